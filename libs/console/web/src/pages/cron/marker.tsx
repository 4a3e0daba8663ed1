import type { Outcome } from '../../data/types.js';
import { SHAPES } from './outcomes.js';

/** The mark of an outcome. What it says is said beside it: the drawing alone is not read out. */
export function Marker({ outcome }: { readonly outcome: Outcome }) {
  return (
    <svg class={`mark ${outcome}`} viewBox="0 0 16 16" width="20" height="20" aria-hidden="true" focusable="false">
      <rect x="0.75" y="0.75" width="14.5" height="14.5" rx="3" />
      <path d={SHAPES[outcome]} />
    </svg>
  );
}
