/** One thing to tell: a line where lines are printed, and for all but `run` one of the view's last lines. */
export interface Happening {
  /** A later one with the same id says more of the same thing. */
  readonly id: string;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly kind: 'run' | 'skip' | 'lease' | 'refusal' | 'chaos' | 'pod' | 'note';
  readonly text: string;
}
