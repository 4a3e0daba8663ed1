import type { Build } from '../catalog/catalog.js';
import type { HashedDeclaration, Word } from '../catalog/declaring.js';
import {
  contentHash,
  KEPT_GENERATIONS,
  lacksTexts,
  type CatalogEntry,
  type Declaration,
  type Generation,
} from '../catalog/definition.js';

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
  readonly source: string | null;
  readonly seq: number;
  /** Of a tombstone: when it may be deleted. */
  readonly deleteAt: number | null;
}

/** @param top the highest build of its source so far, -1 for none */
export function judge(
  known: MemoryCron | undefined,
  { hash }: HashedDeclaration,
  build: Build & { top: number },
): Word {
  if (build.seq < build.top) return 'older';
  if (!known) return 'changed';
  const same = known.hash === hash || (build.seq <= known.seq && lacksTexts(hash, known.hash));
  if (known.source === null) return same && known.status === 'live' ? 'noted' : 'changed';
  if (known.source === build.source && build.seq < known.seq) return 'older';
  if (known.status === 'dropped') return 'changed';
  if (known.source !== build.source) return ofAnother(known, same);
  if (same) return build.seq > known.seq ? 'noted' : 'same';
  return build.seq === known.seq && !lacksTexts(known.hash, hash) ? 'conflict' : 'changed';
}

function ofAnother({ status }: MemoryCron, same: boolean): Word {
  if (same) return 'same';
  return status === 'live' ? 'conflict' : 'changed';
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
  const { generations, source, seq, zoneData } = known;
  const [newest, ...older] = structuredClone(generations);
  if (!newest) return [];
  return [{ ...newest, past: older.toReversed(), source, buildSeq: source === null ? null : seq, zoneData }];
}
