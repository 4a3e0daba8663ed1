import type { DeclareReply } from '@fencepost/ledger/catalog';
import { SchedulerStage, type StagePod } from './scheduler-stage.js';

const YEARLY = '0 0 1 6 *';

export const namesOf = (count: number) => Array.from({ length: count }, (_, n) => `cron-${n}`);

/** Several scheduler pods over many crons. */
export class BalanceStage extends SchedulerStage {
  readonly #pods: StagePod[] = [];

  async started(name: string): Promise<StagePod> {
    const pod = this.pod(name);
    this.#pods.push(pod);
    await pod.start();
    return pod;
  }

  declareMany(count: number, expression = YEARLY): Promise<DeclareReply> {
    return this.declare(1, ...namesOf(count).map((name) => ({ name, expression })));
  }

  /** How many crons each holder has, as the lease store has it. */
  async holders(count: number): Promise<Map<string, number>> {
    const counts = new Map<string, number>();
    for (const holding of await this.memoryLeases.inspect(namesOf(count))) {
      const holder = holding?.holder ?? 'nobody';
      counts.set(holder, (counts.get(holder) ?? 0) + 1);
    }
    return counts;
  }

  async stopAll(): Promise<void> {
    await Promise.all(this.#pods.splice(0).map((pod) => pod.stop()));
  }
}
