import { createHash } from 'node:crypto';
import { SetupError } from '@fencepost/lease';
import { contentHash, type Declaration } from './definition.js';
import { MAX_EXPLICIT, MIN_EXPLICIT, type Revision } from './revision.js';

/** What one process declares. */
export interface DefinitionSet {
  readonly app: string;
  /** The number that the application gave itself; `null`: the store numbers it. */
  readonly explicit: number | null;
  /** Of its whole content: the same set has the same hash, whatever the order in which it was written. */
  readonly hash: string;
  /** The hash of each declaration, by the name of its cron. */
  readonly crons: ReadonlyMap<string, string>;
}

/** A set that the store has numbered. */
export interface KnownRevision extends Pick<DefinitionSet, 'explicit' | 'hash'> {
  readonly revision: Revision;
  /** By the store's clock, epoch milliseconds. */
  readonly firstSeenAt: number;
}

/** What live pods know and a store that was lost may not. */
export interface EnrolmentHint {
  /** A new number is above this one. */
  readonly above?: Revision | undefined;
  /** The number that the set had before, unless another set has it now. */
  readonly claimed?: Revision | undefined;
}

/** @throws {SetupError} for an explicit number that is none, or for an app without a name */
export function definitionSet(
  { app, explicit = null }: { readonly app: string; readonly explicit?: number | null },
  declarations: readonly Declaration[],
): DefinitionSet {
  if (app === '') throw new SetupError('The name of the declaring app is empty.');
  if (explicit !== null && !(Number.isSafeInteger(explicit) && explicit >= MIN_EXPLICIT && explicit <= MAX_EXPLICIT)) {
    throw new SetupError(
      `Expected a revision that is a whole number from ${MIN_EXPLICIT} to ${MAX_EXPLICIT}, got ${explicit}.`,
    );
  }
  const hashed = declarations.map((declaration) => [declaration.definition.name, contentHash(declaration)] as const);
  const sorted = hashed.toSorted(([a], [b]) => (a < b ? -1 : 1));
  const hash = createHash('sha256').update(JSON.stringify(sorted)).digest('base64url').slice(0, 16);
  return { app, explicit, hash, crons: new Map(sorted) };
}

/** Enough of a declaration's hash to tell two of one name apart. */
const SHOWN_HASH = 8;

/** As stores keep the names of a set: a name and the beginning of its hash a line. */
export function setText({ crons }: Pick<DefinitionSet, 'crons'>): string {
  return Array.from(crons, ([name, hash]) => `${name} ${hash.slice(0, SHOWN_HASH)}`).join('\n');
}

export function readSetText(text: string): ReadonlyMap<string, string> {
  const crons = new Map<string, string>();
  for (const line of text === '' ? [] : text.split('\n')) {
    const [name = '', hash = ''] = line.split(' ');
    crons.set(name, hash);
  }
  return crons;
}

/** Whether a full hash and a kept one are of the same declaration. */
export function isSameDeclaration(hash: string, kept: string): boolean {
  return hash.slice(0, SHOWN_HASH) === kept;
}
