import { once } from 'node:events';
import { expect, it } from 'vitest';
import { tellWatcher } from './tell-watcher.js';

it('a watcher that throws is a warning, and nobody else hears of it', async () => {
  const warned = once(process, 'warning');
  const error = new Error('a bug in a watcher');
  tellWatcher(() => {
    throw error;
  }, 'r');
  expect(await warned).toEqual([error]);
});
