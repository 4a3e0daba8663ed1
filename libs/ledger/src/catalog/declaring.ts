import { SetupError, FencepostError } from '@fencepost/lease';
import { contentHash, type CatalogEntry, type Declaration } from './definition.js';
import type { ChangeReply, DeclaredCron, Declarer } from './catalog.js';
import { revisionOf, type AppRevision } from './revision.js';
import type { Word } from './word.js';

/** A removed cron is remembered until no pod has declared it for this long. */
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
 * @throws {SetupError} when one name is declared twice with different content, or the app has no name
 */
export function hashed(declarations: readonly Declaration[], { app }: Pick<Declarer, 'app'>): HashedDeclaration[] {
  if (app === '') throw new SetupError('The name of the declaring app is empty.');
  const once = new Map<string, HashedDeclaration>();
  for (const declaration of declarations) {
    const { name } = declaration.definition;
    const hash = hashOnce(declaration);
    const first = once.get(name);
    if (first && first.hash !== hash) {
      throw new SetupError(`The cron ${JSON.stringify(name)} is declared twice in one process. Rename one of the two.`);
    }
    once.set(name, first ?? { ...declaration, name, hash });
  }
  return [...once.values()];
}

/** The author of a generation, of a declaration or a removal. */
export function byRevision({ app, revision }: AppRevision): string {
  return `${app} revision ${revision}`;
}

/** `<word>`, or `superseded <order>`, or `foreign <app>`: as the stores answer, in the order of the declarations. */
export function declareReply(declared: readonly HashedDeclaration[], answers: readonly string[]): DeclaredCron[] {
  return declared.map(({ name: cron }, index) => {
    const [, word = 'same', detail = ''] = /^(\w+)(?: (.*))?$/s.exec(answers[index] ?? '') ?? [];
    const reply = { cron, word: word.toLowerCase() as Word };
    if (reply.word === 'superseded') return { ...reply, revision: revisionOf(Number(detail)) ?? 0 };
    return reply.word === 'foreign' ? { ...reply, app: detail } : reply;
  });
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
