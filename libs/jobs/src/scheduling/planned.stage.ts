import { planOccurrence, type Plan, type PlanInput } from './misfire.js';

export type PlannedSchedule = PlanInput['schedule'];

/** An instant at every multiple of `periodMs`, and the arithmetic to check the plans against. */
export function every(periodMs: number): PlannedSchedule {
  return {
    next: (after) => (Math.floor(after / periodMs) + 1) * periodMs,
    previous: (before) => (Math.ceil(before / periodMs) - 1) * periodMs,
  };
}

const defaults = { misfire: 'fire-once', graceMs: 60_000, catchUpWindowMs: null } as const;

export interface Case extends Partial<Omit<PlanInput, 'definition'>> {
  readonly definition?: Partial<PlanInput['definition']>;
}

export function plan({ definition = {}, ...input }: Case): Plan | null {
  return planOccurrence({
    schedule: every(1_000),
    spreadMs: 0,
    cursor: 100_000,
    until: Infinity,
    now: 101_000,
    definition: { ...defaults, ...definition },
    ...input,
  });
}

export const onTime = { scheduledAt: 101_000, dueAt: 101_000, reason: 'schedule', missed: null };
export const misfire = (after: number, through: number) => ({ after, through, reason: 'misfire' });
export const merged = (after: number, through: number) => ({ after, through, reason: 'merged' });
