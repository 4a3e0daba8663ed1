import { Inject, Injectable } from '@nestjs/common';
import { presentPodList } from '@fencepost/operations/presenting';
import { JOBS_SETTINGS, libraryVersion, type BullmqRunQueue, type JobsSettings } from '@fencepost/jobs/internal';
import { CronDirectory, READS, readLivePods, RunSearch, type Reads } from '@fencepost/operations/internal';
import type { Clock } from '@fencepost/lease';
import { CLOCK } from '@fencepost/lease/nest';
import { ACCESS, isUnguarded, type Access } from '../auth/access.js';
import { callerHere } from '../auth/caller.js';
import { CostlyLook } from './costly-look.js';
import { READ_QUEUE } from './reading.module.js';

const MAX_COUNTED = 1_000;
/** Of a few crons the count is as new as the rest. */
const TIMES = { freshMs: 0, slowMs: 100 };

interface Failed {
  readonly failed: number;
  readonly failedComplete: boolean;
}

/** Puts together what there is to see of a deployment at one look. */
@Injectable()
export class OverviewService {
  @Inject(CronDirectory) private readonly directory!: CronDirectory;
  @Inject(READS) private readonly reads!: Reads;
  @Inject(READ_QUEUE) private readonly runs!: BullmqRunQueue;
  @Inject(JOBS_SETTINGS) private readonly settings!: JobsSettings;
  @Inject(ACCESS) private readonly access!: Access;
  @Inject(CLOCK) private readonly clock!: Clock;
  #failed: CostlyLook<Failed> | null = null;

  async look() {
    this.#failed ??= new CostlyLook(() => this.#countFailed(), this.clock, TIMES);
    const [now, { uncertain, ...crons }, failed, queue, live] = await Promise.all([
      this.directory.now(),
      this.directory.counts(),
      this.#failed.recent(),
      this.runs.queues.counts(),
      readLivePods(this.reads),
    ]);
    const { tenant, prefix, ledger } = this.settings;
    const { items: pods, unreported } = presentPodList(live);
    return {
      now: new Date(now).toISOString(),
      ...{ tenant, prefix, ledger, version: libraryVersion(), you: this.you(), crons },
      uncertain: Math.min(uncertain, MAX_COUNTED),
      ...failed.found,
      queue,
      pods,
      unreported,
    };
  }

  you() {
    const { name, role } = callerHere();
    return { name, role, signedIn: !isUnguarded(this.access) };
  }

  async #countFailed(): Promise<Failed> {
    const crons = await this.directory.names();
    const { count: failed, complete: failedComplete } = await new RunSearch(this.reads).countFailed(crons, MAX_COUNTED);
    return { failed, failedComplete };
  }
}
