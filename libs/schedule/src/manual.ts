import type { Steps } from './steps.js';

/** The expression of what runs only when somebody asks for it: it has no instants. */
export const MANUAL = '@manual';

export function isManual(expression: unknown): boolean {
  return typeof expression === 'string' && expression.trim() === MANUAL;
}

/** Of a schedule without instants. */
export const NO_STEPS: Steps = { atOrAfter: () => Infinity, atOrBefore: () => -Infinity };
