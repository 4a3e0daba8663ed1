import type { CatalogEntry, Declaration } from '@fencepost/ledger/catalog';
import { contentHash } from '@fencepost/ledger/catalog';
import { differingParts, instantDifference, instantsOf, lastDefined, type Only } from '@fencepost/operations/internal';
import { z } from 'zod';

const instant = z.iso.datetime({ precision: 3 });

const onlySchema = z.strictObject({
  count: z.int().min(0).describe('How many.'),
  first: z.array(instant).describe('The first 20 of them.'),
});

export const cronChangeSchema = z
  .strictObject({
    cron: z.string(),
    dryRun: z.boolean(),
    change: z
      .enum(['new', 'restored', 'changed', 'same'])
      .describe('restored: a removed cron comes back with its last definition and what was named.'),
    parts: z.array(z.string()).describe('Parts of the definition that differ; of a restored one, from its last one.'),
    generation: z.int().nullable().describe('The newest generation: the one made, or of a dry run the one there is.'),
    next: z.array(instant).describe('The next 10 instants, within five years.'),
    gone: onlySchema.describe('Instants of the next 7 days that it would not have any more.'),
    added: onlySchema.describe('Instants of the next 7 days that it does not have today.'),
  })
  .describe('What a definition changes.');

export type CronChange = z.infer<typeof cronChangeSchema>;

const WEEK_MS = 7 * 86_400_000;
const FIVE_YEARS_MS = 5 * 366 * 86_400_000;
const SHOWN = 10;

/** What becomes of a cron by a declaration, in the words of `fencepost plan`. */
export function changeBy(declared: Declaration, before: CatalogEntry | null, now: number): Omit<CronChange, 'dryRun'> {
  const { definition, disabled } = declared;
  const there = before?.state === 'removed' ? null : before;
  const to = now + WEEK_MS;
  const live = there?.state === 'active' ? instantsOf(there.definition, now, to) : [];
  const { gone, added } = instantDifference(live, disabled ? [] : instantsOf(definition, now, to));
  return {
    cron: definition.name,
    change: changeOf(declared, before),
    parts: before === null ? [] : differingParts(lastDefined(before), declared),
    generation: there?.generation ?? null,
    next: disabled ? [] : nextOf(declared, now),
    gone: shown(gone),
    added: shown(added),
  };
}

function changeOf(declared: Declaration, before: CatalogEntry | null): CronChange['change'] {
  if (before === null) return 'new';
  const { definition, state } = before;
  if (state === 'removed') return 'restored';
  return contentHash(declared) === contentHash({ definition, disabled: state === 'disabled' }) ? 'same' : 'changed';
}

function nextOf({ definition }: Declaration, now: number): string[] {
  const instants: string[] = [];
  for (const at of instantsOf(definition, now, now + FIVE_YEARS_MS)) {
    if (instants.push(iso(at)) === SHOWN) break;
  }
  return instants;
}

function shown({ count, first }: Only): { count: number; first: string[] } {
  return { count, first: first.map(iso) };
}

function iso(at: number): string {
  return new Date(at).toISOString();
}
