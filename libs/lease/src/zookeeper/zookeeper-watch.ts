import { sleep } from '../base/clock.js';
import type { StopWatching } from '../store/lease-store.js';
import { NEW_SESSION } from './zookeeper-connection.js';
import type { Change, ZookeeperConnection } from './zookeeper-connection.js';
import type { ZookeeperClient } from './zookeeper-client.js';
import { watchBelow } from './zookeeper-operations.js';

interface WatchOptions {
  readonly client: ZookeeperClient;
  readonly path: string;
  /** Hears of each node made below the path. */
  readonly onCreated: (path: string) => void;
}

const SESSION_MS = 15_000;
const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 5_000;

/**
 * Watches by a session of its own, and by another one when that is lost. What happens meanwhile is not heard of.
 * @throws {ZookeeperError} when the first session can't be had
 */
export async function watchCreations(options: WatchOptions): Promise<StopWatching> {
  const stop = new AbortController();
  const running = follow(options, await connect(options, stop.signal), stop.signal);
  return async () => {
    stop.abort();
    await running;
  };
}

function connect({ client, path, onCreated }: WatchOptions, stop: AbortSignal): Promise<ZookeeperConnection> {
  const hear = ({ created, path: changed }: Change) => {
    if (created && !stop.aborted) onCreated(changed);
  };
  return client.ask(async (server) => {
    const connection = await server.open({ ...NEW_SESSION, timeoutMs: SESSION_MS }, hear);
    await connection.request(watchBelow(path), () => {});
    return connection;
  });
}

async function follow(options: WatchOptions, first: ZookeeperConnection, stop: AbortSignal): Promise<void> {
  let connection: ZookeeperConnection | undefined = first;
  for (let pauseMs = FIRST_PAUSE_MS; !stop.aborted;) {
    try {
      connection ??= await connect(options, stop);
      pauseMs = FIRST_PAUSE_MS;
      await keep(options, connection, stop);
    } catch {
      // A hint may get lost; asking again and again is all there is to do.
    }
    connection?.closeSession();
    connection = undefined;
    await sleep(options.client.settings.clock, pauseMs, stop);
    pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS);
  }
}

/** Until the connection breaks, or the server no longer answers. */
async function keep({ client }: WatchOptions, connection: ZookeeperConnection, stop: AbortSignal): Promise<void> {
  const either = AbortSignal.any([connection.gone, stop]);
  while (!either.aborted) {
    await sleep(client.settings.clock, SESSION_MS / 3, either);
    if (!either.aborted) await connection.ping();
  }
}
