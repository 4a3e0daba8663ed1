import { KnownRuns } from './known-runs.js';
import { SchedulerModel } from './scheduler-model.js';
import type { Stage } from './stage.js';
import { WorkerModel } from './worker-model.js';

/** Drives one cron through its ledger and knows what has to come out; each call may be sent twice, as after a lost reply. */
export class Model {
  readonly runs: KnownRuns;
  readonly schedulers: SchedulerModel;
  readonly workers: WorkerModel;

  constructor(stage: Stage) {
    this.runs = new KnownRuns(stage);
    this.schedulers = new SchedulerModel(stage, this.runs);
    this.workers = new WorkerModel(stage, this.runs);
  }

  /** What has to be true after every call. */
  async check(): Promise<void> {
    await this.runs.check();
    await this.schedulers.check();
  }
}
