import { AsyncLocalStorage } from 'node:async_hooks';
import { afterAll } from 'vitest';

/**
 * Many spec files run in one process, and each evaluates our modules anew, with the storages that they hold. In Node 20 every
 * storage that was ever used makes each `await` of its process slower until it is disabled: fifty of them, a dozen times.
 */
const used = new Set<AsyncLocalStorage<unknown>>();
// oxlint-disable-next-line typescript/unbound-method -- it is bound below, to each storage that is used
const { run } = AsyncLocalStorage.prototype;

AsyncLocalStorage.prototype.run = function (this: AsyncLocalStorage<unknown>, ...args: Parameters<typeof run>) {
  used.add(this);
  return run.apply(this, args);
} as typeof run;

// Registered before those of the file, and so called after them.
afterAll(() => {
  AsyncLocalStorage.prototype.run = run;
  for (const storage of used) storage.disable();
});
