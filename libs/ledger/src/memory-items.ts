import type { AttemptRef, ItemRecord, ItemsStep } from './ledger.js';
import { allow, wasAllowed } from './memory-effect.js';
import type { MemoryItem, MemoryRun } from './memory-ledger-record.js';

interface Advance extends AttemptRef {
  /** Whether this attempt is the current one and its lease has not expired. */
  readonly holds: boolean;
  readonly now: number;
}

/** `advance-items.lua`, line for line. */
export function advanceItemsInMemory(run: MemoryRun, effect: string, step: ItemsStep & Advance): 'recorded' | 'stale' {
  const items = itemsOf(run, effect);
  const kept = step.holds || wasAllowed(run, effect, step);
  for (const outcome of step.finished) {
    if (!kept || (outcome.kind !== 'done' && !step.holds)) continue;
    endItem(items, outcome.key, { ...outcome, now: step.now });
  }
  if (!step.holds) return 'stale';
  if (step.begun.length > 0) allow(run, effect, step);
  for (const key of step.begun) {
    if ((items.get(key)?.state ?? 'failed') === 'failed') {
      items.set(key, { state: 'begun', error: null, since: step.now });
    }
  }
  return 'recorded';
}

interface Ending {
  readonly kind: 'done' | 'failed';
  readonly error?: string;
  readonly now: number;
}

/** What is done stays done. */
export function endItem(items: Map<string, MemoryItem>, key: string, { kind, error, now }: Ending): void {
  const known = items.get(key);
  if (known?.state === 'done') return;
  items.set(key, { state: kind, error: kind === 'failed' ? (error ?? '') : null, since: known?.since ?? now });
}

export function itemsOf(run: MemoryRun, effect: string): Map<string, MemoryItem> {
  const items = run.items.get(effect) ?? new Map<string, MemoryItem>();
  run.items.set(effect, items);
  return items;
}

export function itemsInMemory(run: MemoryRun, effect: string): ItemRecord[] {
  return [...itemsOf(run, effect)].map(([key, item]) => ({ key, ...item }));
}
