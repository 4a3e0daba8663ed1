import { FencepostError } from '@fencepost/lease';

/** A `@SingletonCron` that can't be: the process refuses to start, because a cron that silently never runs is worse. */
export class CronDeclarationError extends FencepostError {
  readonly code = 'CRON_DECLARATION';

  /** @param where class and method, `ReportJobs.nightly` */
  constructor(where: string, problem: string) {
    super(`${where}: ${problem}`);
  }
}
