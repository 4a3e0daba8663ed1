import { SetupError, FencepostError } from '@fencepost/lease';
import { contentHash, type CatalogEntry, type Declaration } from './definition.js';
import type { Build, ChangeReply, DeclareReply } from './catalog.js';

/** A removed cron is remembered until nobody has declared it for so long: older builds must not bring it back. */
export const TOMBSTONE_MS = 24 * 60 * 60_000;

export interface CatalogOptions {
  /** How long a removed cron is remembered after it was last declared, milliseconds. */
  readonly tombstoneMs?: number;
  /** Version of the time zone database. */
  readonly zoneData?: string;
  /** How long after it was accepted a change is effective, milliseconds; the pods have to have the same. */
  readonly effectiveAfterMs?: number;
  /** How many crons there may be before a new one is refused at run time; those that code declares count, and are never refused. */
  readonly maxCrons?: number | undefined;
}

/** What a declaration is to what is known of its cron. `noted`: nothing changes but who declared it last. */
export type Word = 'changed' | 'noted' | 'same' | 'older' | 'conflict';

export interface HashedDeclaration extends Declaration {
  readonly name: string;
  readonly hash: string;
}

/** A process declares the same objects every few seconds. */
const hashes = new WeakMap<Declaration, string>();

function hashOnce(declaration: Declaration): string {
  const hash = hashes.get(declaration) ?? contentHash(declaration);
  hashes.set(declaration, hash);
  return hash;
}

/**
 * Each cron once, with the hash of its content. A declaration that was given once does not change.
 * @throws {DefinitionConflictError} when one name is declared twice with different content
 * @throws {SetupError} for a build without a name, or whose number is none
 */
export function hashed(declarations: readonly Declaration[], build: Build): HashedDeclaration[] {
  const { seq } = checked(build);
  const once = new Map<string, HashedDeclaration>();
  for (const declaration of declarations) {
    const { name } = declaration.definition;
    const hash = hashOnce(declaration);
    const first = once.get(name);
    if (first && first.hash !== hash) throw new DefinitionConflictError(name, seq);
    once.set(name, first ?? { ...declaration, name, hash });
  }
  return [...once.values()];
}

/** Before anything is written: no later build could be compared with one that is no number, and would fail for ever. */
function checked(build: Build): Build {
  const { seq, source } = build;
  if (!Number.isSafeInteger(seq) || seq < 0) {
    throw new SetupError(`Expected a buildSeq that is a whole number from 0 to 2^53 - 1, got ${seq}.`);
  }
  if (source === '') throw new SetupError('The name of the declaring program is empty.');
  return build;
}

/** What a declaration came to; `words` and `removed` belong to `declared`, in the order given. */
export function declareReply(
  declared: readonly HashedDeclaration[],
  words: readonly Word[],
  removed: readonly string[],
): DeclareReply {
  const names = (wanted: Word) => declared.filter((_, index) => words[index] === wanted).map(({ name }) => name);
  return { changed: names('changed'), older: names('older'), removed: removed.toSorted(byText) };
}

/** The reply to the one change that was asked for. */
export function theReply([reply]: readonly ChangeReply[]): ChangeReply {
  if (!reply) throw new TypeError('Expected the reply to one change, got none.');
  return reply;
}

export function byName(a: CatalogEntry, b: CatalogEntry): number {
  return byText(a.definition.name, b.definition.name);
}

function byText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

/** A cron was to be made at run time, and the catalog has as many as it may have. */
export class CatalogFullError extends FencepostError {
  readonly code = 'CATALOG_FULL';

  constructor(
    readonly count: number,
    readonly limit: number,
  ) {
    super(
      `The catalog has ${count} crons and may have ${limit}. ` +
        `Remove crons that are no longer needed, or raise "maxCrons" in JobsModule.`,
    );
  }
}

/** Two processes of the same build number, or two programs, declare one cron with different content. */
export class DefinitionConflictError extends FencepostError {
  readonly code = 'DEFINITION_CONFLICT';

  /** @param source the other program that declares the cron; `null` for another process of the same build */
  constructor(
    readonly cron: string,
    readonly buildSeq: number,
    readonly source: string | null = null,
  ) {
    super(source === null ? sameBuild(cron, buildSeq) : otherProgram(cron, source));
  }
}

function sameBuild(cron: string, buildSeq: number): string {
  return (
    `The cron "${cron}" is already declared differently by a build with the same buildSeq ${buildSeq}. ` +
    `Give the newer build a higher buildSeq (JobsModule option "buildSeq", or build it again).`
  );
}

function otherProgram(cron: string, source: string): string {
  return (
    `The cron "${cron}" is already declared differently by the program "${source}". ` +
    `Rename it in one of the two, or first delete it from "${source}", or remove it with the CLI.`
  );
}
