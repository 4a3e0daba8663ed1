import type { Outcome, TimelineItem } from '../../data/types.js';
import { SHAPES } from './outcomes.js';

interface MarkerProps {
  readonly outcome: Outcome;
  readonly asked?: TimelineItem['asked'];
}

/** The mark of an outcome: round where somebody asked for it. What it says is said beside it: the drawing is not read out. */
export function Marker({ outcome, asked = null }: MarkerProps) {
  return (
    <svg class={`mark ${outcome}`} viewBox="0 0 16 16" width="20" height="20" aria-hidden="true" focusable="false">
      <rect x="0.75" y="0.75" width="14.5" height="14.5" rx={asked === null ? 3 : 7.25} />
      <path d={SHAPES[outcome]} />
      {asked === 'backfill' ? <path class="asked" d="M3 14.2h10" /> : null}
    </svg>
  );
}
