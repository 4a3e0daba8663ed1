import { EventEmitter } from 'node:events';
import { expect, it } from 'vitest';
import { ManualClock } from '../testing/manual-clock.js';
import type { SqlConnection, SqlPool } from './sql-client.js';
import { watchPostgresChannel } from './watch-channel.js';

/** A pool whose connections break as a test tells them to. */
class BreakingPool {
  readonly connections: BreakingConnection[] = [];
  /** How many of the next connections break while they are asked to listen. */
  breaking = 0;

  readonly port = {
    connect: async () => {
      const connection = new BreakingConnection(this.breaking > 0);
      this.breaking -= 1;
      this.connections.push(connection);
      return connection as unknown as SqlConnection;
    },
  } as unknown as SqlPool;

  get open(): number {
    return this.connections.filter(({ released }) => released === 0).length;
  }
}

class BreakingConnection extends EventEmitter {
  released = 0;

  constructor(private readonly breaks: boolean) {
    super();
  }

  async query(): Promise<void> {
    if (this.breaks) throw this.break();
  }

  release(): void {
    this.released += 1;
  }

  /** As `pg` does it: listeners first, then whoever waits for an answer. */
  break(): Error {
    const error = new Error('Connection terminated unexpectedly');
    this.emit('error', error);
    this.emit('end');
    return error;
  }
}

const stage = () => ({ pool: new BreakingPool(), clock: new ManualClock() });

it('a connection that breaks while it begins to listen is replaced by one, and all are given back', async () => {
  const { pool, clock } = stage();
  const heard: string[] = [];
  const stop = await watchPostgresChannel({
    ...{ pool: pool.port, clock, channel: 'c' },
    onMessage: (message) => heard.push(message),
  });
  pool.breaking = 2;
  pool.connections[0]?.break();
  await clock.advance(60_000);
  expect(pool.connections).toHaveLength(4);
  expect(pool.open).toBe(1);
  pool.connections.at(-1)?.emit('notification', { payload: 'triggered' });
  expect(heard).toEqual(['triggered']);
  await stop();
  expect(pool.connections.map(({ released }) => released)).toEqual([1, 1, 1, 1]);
  expect(clock.pending).toBe(0);
});

it('a first connection that breaks while it begins to listen is replaced too', async () => {
  const { pool, clock } = stage();
  pool.breaking = 1;
  const stop = await watchPostgresChannel({ pool: pool.port, clock, channel: 'c', onMessage: () => {} });
  await clock.advance(1_000);
  expect([pool.connections.length, pool.open]).toEqual([2, 1]);
  await stop();
  expect(pool.open).toBe(0);
});
