import { rmSync, writeFileSync } from 'node:fs';
import { UsageError } from '../exit.js';
import type { Change } from './edits.js';

/** @throws {UsageError} when a file can't be written; those before it are as they were */
export function writeAll(changes: readonly (Change & { readonly isNew?: boolean })[]): void {
  const written: (typeof changes)[number][] = [];
  try {
    for (const change of changes) {
      written.push(change);
      writeFileSync(change.file, change.text, change.isNew ? { flag: 'wx' } : {});
    }
  } catch (error) {
    for (const { file, before, isNew } of written.slice(0, -1)) {
      if (isNew) rmSync(file);
      else writeFileSync(file, before);
    }
    throw new UsageError(`Nothing was changed: ${error instanceof Error ? error.message : String(error)}.`);
  }
}
