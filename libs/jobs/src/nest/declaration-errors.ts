import { FencepostError } from '@fencepost/lease';

/** A `@SingletonCron` that can't be: the process refuses to start, because a cron that silently never runs is worse. */
export class CronDeclarationError extends FencepostError {
  readonly code = 'CRON_DECLARATION';

  /** @param where class and method, `ReportJobs.nightly` */
  constructor(where: string, problem: string) {
    super(`${where}: ${problem}`);
  }
}

/** A job for which a duplicate is damage, on a store that may lose what it acknowledged: the process refuses to start. */
export class ClassificationError extends FencepostError {
  readonly code = 'CLASSIFICATION';

  /** @param jobs each with class and method */
  constructor(
    readonly jobs: readonly string[],
    readonly found: readonly string[],
    lines: readonly string[],
  ) {
    super(
      `The ledger may lose acknowledged writes, which criticality "correctness" does not allow at ${jobs.join(', ')}. ` +
        `After such a loss, runs and effects would be repeated. Found: ${found.join(' ')} ` +
        `Change one of these lines: ${lines.join('; ')}.`,
    );
  }
}
