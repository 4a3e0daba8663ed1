import { AsyncLocalStorage } from 'node:async_hooks';
import { afterAll } from 'vitest';

/**
 * Many spec files run in one process, and each evaluates our modules anew, with the storages that they hold. In Node 20 every
 * storage that was ever used makes each `await` of its process slower until it is disabled; with fifty it takes many times as long.
 */
const used = new Set<AsyncLocalStorage<unknown>>();
const { prototype } = AsyncLocalStorage;
const run = Reflect.get(prototype, 'run') as (this: AsyncLocalStorage<unknown>, ...args: unknown[]) => unknown;

prototype.run = function (this: AsyncLocalStorage<unknown>, ...args: unknown[]) {
  used.add(this);
  return run.apply(this, args);
} as typeof prototype.run;

// Registered before those of the file, and so called after them.
afterAll(() => {
  prototype.run = run as typeof prototype.run;
  for (const storage of used) storage.disable();
});
