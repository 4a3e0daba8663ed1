import type { StopWatching } from '@fencepost/lease/store';
import type { CatalogEntry, Declaration } from './definition.js';
import type { Word } from './word.js';
import type { AppRevision, Revision } from './revision.js';
import type { DefinitionSet, EnrolmentHint, KnownRevision } from './definition-set.js';

/** Who declares, and which revisions it need not give way to. */
export interface Declarer extends AppRevision {
  /**
   * Revisions without a live pod, of this app and of others: a newer one of this app gives way, and another app gives up what
   * only such a revision declared. Absent for none.
   */
  readonly gone?: readonly AppRevision[];
  /** Whether no process of a former release is live, whose declarations have no revision; default false. */
  readonly formersGone?: boolean;
  /**
   * Of this call, 8 characters. A call that is repeated with its nonce, because its reply got lost, is answered as the first one
   * was: a change that nobody is told of is a silent one. Absent for a caller that does not care.
   */
  readonly nonce?: string;
  /** Whether a call with this nonce was sent before; default false. */
  readonly repeated?: boolean;
}

/** What came of the declaration of one cron. */
export interface DeclaredCron {
  readonly cron: string;
  readonly word: Word;
  /** With `superseded`: the newer revision. */
  readonly revision?: Revision;
  /** With `foreign`: the app it belongs to. */
  readonly app?: string;
}

/** Where a listing of undeclared crons goes on. */
export interface UndeclaredPage {
  readonly crons: readonly string[];
  /** `null` after the last. */
  readonly next: string | null;
}

/** A record of the catalog that no process can use until it is written anew. */
export interface UnreadableRecord {
  readonly name: string;
  readonly reason: string;
}

/** What a pod knows, and until when it may rely on it. */
export interface CatalogReading {
  /** Rises with every accepted change. */
  readonly version: number;
  /** The store's clock at the reading, epoch milliseconds: see `EFFECTIVE_AFTER_MS`. */
  readonly readAt: number;
  /**
   * The store's clock when the first change of all was accepted, epoch milliseconds: a catalog that was lost with its store is
   * born again. `null` when none was, or none that noted it.
   */
  readonly bornAt?: number | null;
  /** By name. Disabled and removed ones too: their last instants may not be accounted for yet. Only those that were asked for. */
  readonly entries: readonly CatalogEntry[];
  /** Records that cannot be read: no pod fires them, and the crons of all other records go on. Absent for none. */
  readonly unreadable?: readonly UnreadableRecord[];
}

/** One page of what changed after a version. */
export interface CatalogChanges {
  /** Of the catalog as this page was read: a reader has all of it after the last page. */
  readonly version: number;
  /** The store's clock as this page was read, epoch milliseconds. */
  readonly readAt: number;
  readonly bornAt?: number | null;
  /** As they are now, in no order. A cron that changes meanwhile comes again on a later page. */
  readonly entries: readonly CatalogEntry[];
  readonly unreadable?: readonly UnreadableRecord[];
  /** Crons that the catalog has no more; the reader may never have known them. */
  readonly gone: readonly string[];
  /** Where the next page begins; `null` after the last. */
  readonly next: string | null;
}

/** How many crons are on a page unless the caller asks for another number. */
export const CHANGES_PER_PAGE = 250;

/** How many changes a catalog remembers at least: a reader that missed more reads all of it. */
export const REMEMBERED_CHANGES = 20_000;

/** Who asks for changes at run time. */
export interface Orderer {
  readonly by: string;
  readonly reason: string | null;
}

/** Who asks for a change at run time, and what they saw before. */
export interface ChangeOrder extends Orderer {
  /** The generation that is to be replaced, `null` for a cron that isn't there: another one is `moved`. */
  readonly expected: number | null;
}

/** One of many crons to make or change; `expected` absent: whatever is there. */
export interface CronPut {
  readonly declaration: Declaration;
  readonly expected?: number | null | undefined;
}

/** One of many crons to remove; `expected` absent: whatever is there. */
export interface CronRemoval {
  readonly cron: string;
  readonly expected?: number | null | undefined;
}

export type ChangeReply =
  | { readonly verdict: 'accepted'; readonly generation: number; readonly since: number }
  /** Somebody else was faster: read again, decide again. `null`: the cron isn't there, or not any more. */
  | { readonly verdict: 'moved'; readonly generation: number | null }
  /** Without an expected generation: the same is there already, or the cron is gone already. Nothing was written. */
  | { readonly verdict: 'unchanged'; readonly generation: number | null }
  /** A new cron would be one more than the limit of this catalog. */
  | { readonly verdict: 'full'; readonly count: number; readonly limit: number };

/** The numbers that the sets of definitions of each app have. */
export interface Revisions {
  /** Numbers a set of definitions; the same set of an app has the same number again. */
  enrol(set: DefinitionSet, hint?: EnrolmentHint): Promise<Revision>;
  /** Those of an app that are remembered, the oldest first. */
  of(app: string): Promise<KnownRevision[]>;
  /** The crons of each revision with the beginning of their hashes; `null` where the names are no longer kept. */
  declaredBy(app: string, revisions: readonly Revision[]): Promise<(ReadonlyMap<string, string> | null)[]>;
}

/**
 * Which crons there are, and which there were. Worker processes declare, people change at run time, scheduler pods read.
 *
 * Every implementation passes `test/contracts/catalog.contract.ts`. "Now" is the store's clock.
 */
export interface Catalog {
  readonly revisions: Revisions;
  /**
   * Puts definitions of one revision in force, each unless a newer revision of the app or another app has the cron: the replies
   * are in the order given. Nothing is written where nothing changed.
   *
   * A cron that was changed at run time keeps that change until its declaration has other content than before.
   * @throws {SetupError} when a name is declared twice, or the app has no name; nothing is changed
   */
  declare(declarations: readonly Declaration[], by: Declarer): Promise<DeclaredCron[]>;
  /** Lists crons of an app whose definition in force is of a revision that is gone: no order, and some may come twice. */
  listUndeclared(by: Declarer, after?: string | null): Promise<UndeclaredPage>;
  /**
   * Removes crons whose definition in force is of a revision that is gone: they stop firing until a pod declares them again.
   * @returns the names of those that were removed
   */
  drop(crons: readonly string[], by: Declarer): Promise<string[]>;
  /** @param crons only these, at most 1,000, and at a cost that the others have no part in; those that aren't there are left out */
  read(crons?: readonly string[]): Promise<CatalogReading>;
  /**
   * One page of what changed after `version`; of everything for `null`. A declaration that changes nothing but the revision
   * of a cron is no change.
   *
   * `null`: the catalog can't say, because it was lost, or went back, or has had too many changes since then, or because an
   * earlier release changed it. Read it from `null`. See `readChanges`, which goes through all pages.
   * @param after `next` of the page before
   * @param limit at most about this many crons
   */
  since(version: number | null, after?: string | null, limit?: number): Promise<CatalogChanges | null>;

  /** Makes a cron, or changes one: at run time, in the same way. */
  put(declaration: Declaration, order: ChangeOrder): Promise<ChangeReply>;
  /**
   * It stops firing, and is deleted when no process has declared it for a day. A declared cron comes back with the next
   * declaration. A record that cannot be read is deleted at once, with `expected: null`.
   */
  remove(cron: string, order: ChangeOrder): Promise<ChangeReply>;
  /** Makes or changes many crons. Each is accepted or refused by itself. The replies are in the order given. */
  putMany(changes: readonly CronPut[], order: Orderer): Promise<ChangeReply[]>;

  /** Removes many crons. Each is accepted or refused by itself. The replies are in the order given. */
  removeMany(crons: readonly CronRemoval[], order: Orderer): Promise<ChangeReply[]>;

  /**
   * Counts the generations of a cron on from above `accepted`, unless it has one that is not below. All of them move on, and
   * keep their instants.
   *
   * A ledger that has accepted a generation the catalog never issued means that the catalog was lost and counts anew. Every
   * claim under the new count would be refused, for ever.
   */
  outgrow(cron: string, accepted: number): Promise<void>;
  /** Calls `onChanged` after something changed, from any process. A hint that may get lost. */
  watch(onChanged: () => void): Promise<StopWatching>;
}
