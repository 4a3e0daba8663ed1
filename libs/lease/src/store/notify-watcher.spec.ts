import { once } from 'node:events';
import { expect, it } from 'vitest';
import { notifyWatcher } from './lease-request.js';

it('a watcher that throws is a warning, and nobody else hears of it', async () => {
  const warned = once(process, 'warning');
  const error = new Error('a bug in a watcher');
  notifyWatcher(() => {
    throw error;
  }, 'r');
  expect(await warned).toEqual([error]);
});
