import { FencepostError } from '@fencepost/lease';

/** The format of this build: all that a store holds counts by this one number. */
export const FORMAT = 4;

/** The first that was released. A member that announces no format has this one; every later build reads it. */
export const FIRST_FORMAT = 2;

/** The first whose processes have revisions; those before know only builds. */
export const REVISIONS_FORMAT = 4;

/**
 * Whether a build reads records of a format: every released one, and the next. The next has more words at the end or more
 * fields, which a build that doesn't know them keeps.
 */
export function isReadable(format: number, own = FORMAT): boolean {
  return Number.isInteger(format) && format >= FIRST_FORMAT && format <= own + 1;
}

/** The highest format that all live members read and write. */
export function formatToWrite(live: Iterable<number>, own = FORMAT): number {
  return Math.min(own, ...live);
}

/**
 * @param what names the record in the error
 * @throws {FormatError} for a format that this build does not read
 */
export function checkFormat(what: string, format: unknown, found: string = String(format)): void {
  if (!isReadable(Number(format))) throw new FormatError(what, found);
}

/** Reads each record; one of a format that this build does not read is set aside for a later build. */
export function readEach<T, R>(records: readonly T[], read: (record: T) => R): R[] {
  return records.flatMap((record) => {
    try {
      return [read(record)];
    } catch (error) {
      if (error instanceof FormatError) return [];
      throw error;
    }
  });
}

/** A record that no build of this format reads. */
export class FormatError extends FencepostError {
  readonly code = 'FORMAT_UNREADABLE';

  constructor(what: string, found: string) {
    const shown = JSON.stringify(found.slice(0, 80));
    super(`Expected ${what} of format ${FIRST_FORMAT} to ${FORMAT + 1}, got ${shown}. Upgrade this process.`);
  }
}
