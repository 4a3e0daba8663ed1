import type { Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { Journal } from '@fencepost/operations/journal';
import { JOURNAL } from '@fencepost/operations';
import { ManualClock } from '@fencepost/lease/testing';
import { afterEach, beforeEach, describe, expect, it, afterAll, beforeAll } from 'vitest';
import { newToken } from '@fencepost/operations/access-tokens';
import { ConsoleServer } from '../console-server.js';
import { EventsController } from './events.controller.js';
import { SECRETS, startSchedulerApp, TOKENS, type RunningApp } from '../../../../test/support/scheduler-app.js';

const MAX_LISTENERS = 500;

const MAX_UNREAD = 1_048_576;

const BEAT = 'event: heartbeat';

const SOON = { timeout: 30_000 };

/** One caller has 50 places. */
const GUESTS = Array.from({ length: 10 }, (_, n) => newToken(`guest-${n}`, 'viewer'));

/** A connection whose bytes are seen, and which may refuse to read any. */
interface Listener {
  readonly socket: Socket;
  readonly heard: () => string;
}

const sockets: Socket[] = [];

const bearer = (secret: string) => `Authorization: Bearer ${secret}\r\n`;

const beats = ({ heard }: Listener) => heard().split(BEAT).length - 1;

async function beaten(listener: Listener, times: number): Promise<void> {
  await expect.poll(() => beats(listener), SOON).toBe(times);
}

function leave(all: readonly Listener[]): void {
  for (const { socket } of all) socket.destroy();
}

/** Half a kilobyte a text, and forty texts: as large as an entry gets to be. */
const LARGE = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`text${n}`, 'x'.repeat(400)]));

const AT_ONCE = 20;

function told(cron: string) {
  const about = { pod: 'p/12345678', role: 'scheduler', event: 'lease.lost' as const, level: 'warn' as const };
  return { ...about, cron, runId: null, detail: LARGE };
}

describe('the listeners of events', () => {
  let running: RunningApp;

  /** Opens the door to those that wait before it without a token. */
  let letIn: () => void;

  /** The server's ends of all connections, in the order in which they came. */
  let ends: Socket[];

  let clock: ManualClock;

  beforeEach(async () => {
    const boundary = new Promise<void>((resolve) => (letIn = resolve));
    clock = new ManualClock();
    ends = [];
    running = await startSchedulerApp({
      access: { tokens: [TOKENS, ...GUESTS.map(({ line }) => line)].join(','), rateLimit: 100_000 },
      authenticate: async () => {
        await boundary;
        return { name: 'olga', role: 'viewer' };
      },
    });
    // Of the streams alone: everything else in the app goes by the clock of the machine.
    Reflect.set(
      running.app.get(ConsoleServer, { strict: false }).app!.get(EventsController, { strict: false }),
      'clock',
      clock,
    );
    const server: Server = running.app.getHttpServer();
    server.on('connection', (socket: Socket) => ends.push(socket));
  });

  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await running.close();
  });

  const BEARER = bearer(SECRETS.viewer);

  function listen(more = `${BEARER}\r\n`): Listener {
    const socket = connect(running.port, '127.0.0.1');
    socket.on('error', () => {});
    sockets.push(socket);
    let text = '';
    socket.on('data', (bytes) => (text += bytes.toString()));
    socket.write(`GET /crons/api/events HTTP/1.1\r\nHost: 127.0.0.1:${running.port}\r\n${more}`);
    return { socket, heard: () => text };
  }

  /** What a new listener is answered, which leaves at once. */
  async function answered(): Promise<Response> {
    const aborter = new AbortController();
    const response = await running.ask('/api/events', { signal: aborter.signal });
    if (response.status === 200) aborter.abort();
    return response;
  }

  async function fill(more = '\r\n'): Promise<Listener[]> {
    const all = GUESTS.flatMap(({ secret }) =>
      Array.from({ length: MAX_LISTENERS / GUESTS.length }, () => listen(bearer(secret) + more)),
    );
    for (const one of all) await beaten(one, 1);
    return all;
  }

  describe('a stream of events', () => {
    it('has a heartbeat, for a proxy that closes what is silent', async () => {
      const listener = listen();
      await beaten(listener, 1);
      expect(listener.heard()).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*content-type: text\/event-stream/i);
      await clock.advance(499);
      const later = listen();
      await beaten(later, 1);
      expect(beats(listener)).toBe(1);
      await clock.advance(1);
      await beaten(listener, 2);
      await clock.advance(500);
      await beaten(listener, 3);
    });

    it('leaves no heartbeat behind when its listener leaves', async () => {
      const before = clock.pending;
      const listener = listen();
      await beaten(listener, 1);
      expect(clock.pending).toBe(before + 1);
      listener.socket.destroy();
      await expect.poll(() => clock.pending, SOON).toBe(before);
    });

    it('gives no place to who asks for the headers alone', async () => {
      letIn();
      const socket = connect(running.port, '127.0.0.1');
      sockets.push(socket);
      let text = '';
      socket.on('data', (bytes) => (text += bytes.toString()));
      const lines = `HTTP/1.1\r\nHost: 127.0.0.1:${running.port}\r\n${BEARER}\r\n`;
      socket.write(`HEAD /crons/api/events ${lines}GET /health/live ${lines}`);
      // The second answer comes when the first one is over.
      await expect.poll(() => text.split('HTTP/1.1 200').length - 1, SOON).toBe(2);
    });
  });

  describe('a listener too many', () => {
    it('is told so in one sentence, and the others go on', async () => {
      const all = await fill();
      const response = await answered();
      expect([response.status, await response.json()]).toEqual([
        503,
        expect.objectContaining({
          status: 503,
          code: 'BUSY',
          detail: expect.stringMatching(/^Expected at most 500 listeners/) as string,
        }),
      ]);
      await clock.advance(500);
      for (const one of all) await beaten(one, 2);
    });

    it.each([
      ['has read what it could', '\r\n'],
      ['sent a body with its question', 'Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}'],
    ])('finds room when one leaves that %s', async (_, more) => {
      const all = await fill(more);
      expect((await answered()).status).toBe(503);
      leave(all.slice(0, 1));
      await expect.poll(async () => (await answered()).status, SOON).toBe(200);
    });

    it('finds room when all have left before they were let in', async () => {
      const all = Array.from({ length: MAX_LISTENERS }, () => listen('\r\n'));
      await expect.poll(() => ends.length, SOON).toBe(MAX_LISTENERS);
      const asked = running.ask('/api/me', { as: null });
      leave(all);
      await expect.poll(() => ends.filter(({ destroyed }) => destroyed).length, SOON).toBe(MAX_LISTENERS);
      letIn();
      expect((await asked).status).toBe(200);
      expect((await answered()).status).toBe(200);
    });
  });

  describe('a reader that reads nothing', () => {
    it('is cut off before it costs more than a mebibyte, and the others hear all of it', async () => {
      const journal = running.app.get<Journal>(JOURNAL, { strict: false });
      const slow = listen();
      await beaten(slow, 1);
      slow.socket.pause();
      const [end] = ends;
      const quick = listen();
      await beaten(quick, 1);
      let [most, rounds] = [0, 0];
      const isOpen = () => end?.destroyed === false;
      while (isOpen() && rounds < 60) {
        await journal.append(Array.from({ length: AT_ONCE }, () => told(`round-${rounds}`)));
        rounds += 1;
        await expect.poll(() => quick.heard().split('"cron":"round-').length - 1, SOON).toBe(rounds * AT_ONCE);
        most = Math.max(most, end?.writableLength ?? 0);
      }
      expect(end?.destroyed, `cut off within ${rounds} rounds, ${most} bytes unread`).toBe(true);
      expect(most).toBeGreaterThan(0);
      expect(most).toBeLessThan(MAX_UNREAD + AT_ONCE * 20_000);
      await journal.append([told('after')]);
      await expect.poll(() => quick.heard().includes('"cron":"after"'), SOON).toBe(true);
    });
  });
});

describe('the stream of events', () => {
  let running: RunningApp;

  beforeAll(async () => {
    running = await startSchedulerApp();
  });

  afterAll(() => running.close());

  const entryOf = (cron: string) => ({
    ...{
      pod: 'p/12345678',
      role: 'scheduler',
      event: 'lease.lost' as const,
      level: 'warn' as const,
      cron,
      runId: null,
    },
    detail: { text: 'a line\nid: forged\n\n' },
  });

  /** Listens until as many events came as were wanted. */
  async function hear(
    count: number,
    headers: Record<string, string> = {},
    ready: () => Promise<void> = async () => {},
  ) {
    const aborter = new AbortController();
    const response = await running.ask('/api/events', { headers, signal: aborter.signal });
    let text = '';
    const decoder = new TextDecoder();
    let begun = false;
    for await (const part of response.body as unknown as AsyncIterable<Uint8Array>) {
      text += decoder.decode(part, { stream: true });
      if (!begun) await ready();
      begun = true;
      if ((text.match(/^event: journal$/gm) ?? []).length >= count) break;
    }
    aborter.abort();
    const blocks = text.split('\n\n').filter((block) => block.startsWith('id: '));
    return blocks.map((block) => {
      const [id, , data] = block.split('\n').map((line) => line.slice(line.indexOf(': ') + 2));
      return { id: id ?? '', entry: JSON.parse(data ?? '{}') as { cron: string; detail: { text: string } } };
    });
  }

  it('what comes into the journal is told as it comes, and who was away goes on where it was', async () => {
    const journal = running.app.get<Journal>(JOURNAL, { strict: false });
    await journal.append([entryOf('first')]);
    const before = await journal.head();
    await journal.append([entryOf('a'), entryOf('b'), entryOf('c')]);
    const heard = (await hear(3, { 'last-event-id': before ?? '' })).filter(({ entry }) => /^[abc]$/.test(entry.cron));
    expect(heard.map(({ entry }) => entry.cron)).toEqual(['a', 'b', 'c']);
    const again = await hear(2, { 'last-event-id': heard[0]?.id ?? '' });
    expect(again.slice(0, 2).map(({ entry }) => entry.cron)).toEqual(['b', 'c']);
    // A text with line breaks begins no event of its own.
    expect(heard[0]?.entry.detail.text).toBe('a line\nid: forged\n\n');
  });
});
