import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

/**
 * What becomes of the connections that were cut: both ends hear that they are dead, only the server does, as by its probes, or
 * they go on as if nothing had been.
 */
export type Healing = 'reset' | 'silent' | 'deliver';

/** The network between one process and one store. */
export interface FaultyLink {
  readonly port: number;
  /** Nothing comes through and nothing is closed; what is sent is lost. */
  cut(): void;
  /** Nothing comes through; what is sent arrives when the link is healed, late. */
  hold(): void;
  heal(how: Healing): void;
  /** Each reply is lost together with its connection: the request has been carried out. */
  dropReplies(dropping: boolean): void;
  /** How many replies got lost. */
  readonly dropped: number;
  close(): Promise<void>;
}

type Mode = 'open' | 'lost' | 'held';

interface Line {
  mode: Mode;
  readonly sockets: readonly Socket[];
  readonly late: (() => void)[];
}

/** @param targetPort of a server on this machine */
export async function faultyLink(targetPort: number): Promise<FaultyLink> {
  const lines = new Set<Line>();
  const state = { mode: 'open' as Mode, dropping: false, dropped: 0 };
  const server = createServer((client) => {
    const line: Line = { mode: state.mode, sockets: [client, connect(targetPort, '127.0.0.1')], late: [] };
    lines.add(line);
    wire(line, () => state.dropping && (state.dropped += 1) > 0);
    // Kept until both ends are gone: one that nobody hears of any more would be a session that never ends.
    const [, upstream] = line.sockets as [Socket, Socket];
    const forget = () => client.destroyed && upstream.destroyed && lines.delete(line);
    for (const socket of line.sockets) socket.on('close', forget);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const all = (mode: Mode) => {
    state.mode = mode;
    for (const line of lines) if (line.mode === 'open') line.mode = mode;
  };
  return {
    port: (server.address() as AddressInfo).port,
    get dropped() {
      return state.dropped;
    },
    cut: () => all('lost'),
    hold: () => all('held'),
    heal: (how) => {
      state.mode = 'open';
      for (const line of lines) healLine(line, how);
    },
    dropReplies: (dropping) => void (state.dropping = dropping),
    close: async () => {
      for (const { sockets } of lines) for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

function healLine(line: Line, how: Healing): void {
  if (line.mode === 'open') return;
  if (line.mode === 'held' || how === 'deliver') {
    line.mode = 'open';
    for (const deliver of line.late.splice(0)) deliver();
  } else {
    const [client, server] = line.sockets as [Socket, Socket];
    server.destroy();
    if (how === 'reset' || client.destroyed) client.destroy();
  }
}

function wire(line: Line, dropsReply: () => boolean): void {
  const [client, server] = line.sockets as [Socket, Socket];
  const pass = (step: () => void) => {
    if (line.mode === 'open') step();
    else if (line.mode === 'held') line.late.push(step);
  };
  const forward = (from: Socket, to: Socket) => {
    from.on('data', (bytes) => pass(() => deliver(bytes, to)));
    from.on('end', () => pass(() => to.end()));
    from.on('close', () => pass(() => to.destroy()));
    // A connection that breaks is what this is for, not a failure.
    from.on('error', () => {});
  };
  const deliver = (bytes: Buffer, to: Socket) => {
    if (to === client && dropsReply()) client.destroy();
    else if (to.writable) to.write(bytes);
  };
  forward(client, server);
  forward(server, client);
}
