import type { CatalogEntry } from '@fencepost/ledger/catalog';
import type { CronLabels } from './cron-labels.js';
import type { Instruments } from './instruments.js';

/**
 * Shows the tags of the crons that are told apart, so that alerts and panels can join by them: a tag as a label of every metric
 * would be ten times as many series, and another one with each change of a tag.
 */
export function showTags({ tagsInfo }: Instruments, entries: readonly CatalogEntry[], labels: CronLabels): void {
  tagsInfo.reset();
  for (const { state, definition } of entries) {
    const { name, tags = [] } = definition;
    if (state === 'removed' || labels.of(name) !== name) continue;
    for (const tag of tags) tagsInfo.set({ cron: name, tag }, 1);
  }
}
