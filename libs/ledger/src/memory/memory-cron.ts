import type { Declarer } from '../catalog/catalog.js';
import type { HashedDeclaration } from '../catalog/declaring.js';
import {
  contentHash,
  KEPT_GENERATIONS,
  lacksTexts,
  type CatalogEntry,
  type Declaration,
  type Generation,
} from '../catalog/definition.js';
import { orderOf, revisionOf } from '../catalog/revision.js';

/** Why a cron is in the catalog: see judge-declaration.lua, which this file mirrors. */
export type EntryStatus = 'live' | 'dropped' | 'removed';

export interface MemoryCron {
  /** The newest first. */
  readonly generations: readonly Generation[];
  readonly zoneData: string;
  /** Of what was declared, whatever was changed at run time since. */
  readonly hash: string;
  readonly status: EntryStatus;
  /** `null`: made at run time. */
  readonly app: string | null;
  /** Of the revision in force, as stores keep it. */
  readonly order: number;
  /** Of a tombstone: when it may be deleted. */
  readonly deleteAt: number | null;
}

/** @returns a word, and behind it what it is about, as the stores answer */
export function judge(known: MemoryCron | undefined, { hash }: HashedDeclaration, by: Declarer): string {
  if (!known) return 'created';
  const order = orderOf(by.revision);
  const same = known.hash === hash || (order <= known.order && lacksTexts(hash, known.hash));
  if (known.app === null) return same && known.status === 'live' ? 'noted' : 'changed';
  if (known.status === 'dropped') return 'restored';
  const gone = isGone(known, by);
  if (!owns(by, known)) {
    if (known.status === 'removed') return 'restored';
    if (!gone) return `foreign ${known.app}`;
    return same ? 'noted' : 'taken';
  }
  if (known.status === 'removed') return same ? 'withheld' : 'restored';
  const isNewer = known.order > order && revisionOf(known.order) !== null;
  if (isNewer && !gone) return same ? 'same' : `superseded ${known.order}`;
  if (same) return known.order === order ? 'same' : 'noted';
  return isNewer ? 'reverted' : 'changed';
}

/** Whether a cron is of the declaring app. Former releases added the path of the program to the name of its package. */
function owns({ app }: Declarer, known: Pick<MemoryCron, 'app' | 'order'>): boolean {
  return known.app === app || (revisionOf(known.order) === null && known.app?.startsWith(`${app}/`) === true);
}

/** Whether the revision in force has no live pod, as far as the declaring process knows. */
function isGone({ app, order }: Pick<MemoryCron, 'app' | 'order'>, by: Declarer): boolean {
  if (revisionOf(order) === null) return by.formersGone === true;
  return (by.gone ?? []).some((one) => one.app === app && orderOf(one.revision) === order);
}

/** Whether no live pod declares a cron of this app, as far as the declaring process knows. */
export function isUndeclared(known: MemoryCron, by: Declarer): boolean {
  return known.status === 'live' && owns(by, known) && isGone(known, by);
}

/** Of a declaration that is known: its texts may be yet to come, and be known already. */
export function newestHash(hash: string, known: MemoryCron): string {
  return lacksTexts(hash, known.hash) ? known.hash : hash;
}

/** Whose a cron is after an operator's change: a removed one that comes back is the operator's, until code declares it. */
export function originOf(
  known: MemoryCron | undefined,
  declaration: Declaration,
): Pick<MemoryCron, 'app' | 'order' | 'hash'> {
  if (known?.status === 'live' && known.app !== null) return { app: known.app, order: known.order, hash: known.hash };
  return { app: null, order: 0, hash: contentHash(declaration) };
}

/** Whether the newest generation says what a declaration says. */
export function isSameContent({ generations }: MemoryCron, declaration: Declaration): boolean {
  const [newest] = generations;
  const state = declaration.disabled ? 'disabled' : 'active';
  if (newest?.state !== state) return false;
  return contentHash({ definition: newest.definition, disabled: declaration.disabled }) === contentHash(declaration);
}

/** The generations with another one in front. */
export function begin(
  generations: readonly Generation[],
  next: Omit<Generation, 'generation' | 'since'>,
  { now, effectiveAfterMs }: { readonly now: number; readonly effectiveAfterMs: number },
): Generation[] {
  const [last] = generations;
  const since = last ? Math.max(now + effectiveAfterMs, last.since) : now;
  const generation = (last?.generation ?? 0) + 1;
  // A copy, as a store has it: nobody changes the catalog through what they gave it.
  const definition = structuredClone(next.definition);
  return [{ ...next, definition, generation, since }, ...generations].slice(0, KEPT_GENERATIONS + 1);
}

export function presentGeneration(known: MemoryCron | undefined): number | null {
  const [newest] = known?.generations ?? [];
  return newest && newest.state !== 'removed' ? newest.generation : null;
}

export function entriesOf(known: MemoryCron | undefined): CatalogEntry[] {
  if (!known) return [];
  const { generations, app, order, zoneData } = known;
  const [newest, ...older] = structuredClone(generations);
  if (!newest) return [];
  return [{ ...newest, past: older.toReversed(), app, revision: app === null ? null : revisionOf(order), zoneData }];
}
