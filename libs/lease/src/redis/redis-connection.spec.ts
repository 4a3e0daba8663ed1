import { EventEmitter } from 'node:events';
import { expect, it } from 'vitest';
import { closeRedis } from './redis-connection.js';

/** A connection that is being made to a node which is gone: asked to close, it never says that it has ended. */
class Silent extends EventEmitter {
  readonly status = 'connecting';
  asked = 0;

  disconnect(): void {
    this.asked += 1;
  }
}

it('closing ends, although the connection never says that it has', { timeout: 5_000 }, async () => {
  const silent = new Silent();
  await closeRedis(silent as never);
  expect(silent.asked).toBe(1);
});
