import type { Read } from './observations.js';

/** Which property stands for what: whoever sends the id of the run has a key too. */
const READS: readonly (readonly [property: string, read: Read])[] = [
  ['idempotencyKey', 'idempotencyKey'],
  ['id', 'idempotencyKey'],
  ['fence', 'fence'],
  ['signal', 'signal'],
];

/** Replaces what `target` has of these by getters that tell; they read from `source` each time. */
export function watchedReads<T extends object>(target: T, onRead: (read: Read) => void, source: object): T {
  for (const [property, read] of READS) {
    if (!(property in source)) continue;
    const get = () => {
      onRead(read);
      return Reflect.get(source, property) as unknown;
    };
    Object.defineProperty(target, property, { enumerable: true, configurable: true, get });
  }
  return target;
}
