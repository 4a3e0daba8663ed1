import type { Run } from './run.js';

/** One scheduled instant of one cron. */
export interface Occurrence {
  readonly cron: string;
  /** The nominal instant, epoch milliseconds: what the expression says, whenever it really starts. */
  readonly scheduledAt: number;
}

/** No `@` (it separates name and instant) and no `:` (BullMQ refuses it in a job id). */
export const CRON_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;

/**
 * What no store accepts as a cron: each port asks this first, so that all adapters refuse the same names.
 * @throws {RangeError}
 */
export function checkCronName(name: string): void {
  if (CRON_NAME.test(name)) return;
  throw new RangeError(
    `${JSON.stringify(name.slice(0, 110))} is not a valid cron name: use 1 to 100 letters, digits or . _ - , beginning with a ` +
      `letter or a digit.`,
  );
}

/**
 * The id of an occurrence, `nightly-report@1763607600000`, and of its run.
 *
 * Built from the UTC instant, so a local hour that comes twice has two ids, and any pod can compute it beforehand.
 */
export function occurrenceId(occurrence: Occurrence): string {
  return `${occurrence.cron}@${occurrence.scheduledAt.toFixed(0)}`;
}

/** The cron a run belongs to, from the run's id alone: a delivery carries nothing else that could be trusted. */
export function cronOfRun(runId: string): string {
  const at = runId.lastIndexOf('@');
  if (at < 1) throw new RangeError(`Expected a run id like "nightly-report@1763607600000", got "${runId}".`);
  return runId.slice(0, at);
}

/** Whether a run can be late: one that a person asked for, of an instant long past or of now, can't. */
export function hasLateness({ reason }: Pick<Run, 'reason'>): boolean {
  return reason === 'schedule' || reason === 'catch-up';
}
