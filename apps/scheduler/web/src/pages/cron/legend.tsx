import type { Outcome, TimelineItem } from '../../data/types.js';
import { Marker } from './marker.js';
import { OUTCOMES } from './outcomes.js';

/** What the marks mean; only those that are there, and how many. */
export function Legend({ items }: { readonly items: readonly TimelineItem[] }) {
  const counts = new Map<Outcome, number>();
  for (const { outcome, count } of items) counts.set(outcome, (counts.get(outcome) ?? 0) + count);
  const present = (Object.keys(OUTCOMES) as Outcome[]).filter((outcome) => counts.has(outcome));
  return (
    <ul class="legend" aria-label="What the marks mean">
      {present.map((outcome) => (
        <li key={outcome} title={OUTCOMES[outcome]}>
          <Marker outcome={outcome} /> {outcome} <span class="quiet">{counts.get(outcome)}</span>
        </li>
      ))}
    </ul>
  );
}
