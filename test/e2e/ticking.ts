import type { Deployment } from '../support/deployment.js';
import type { Pod } from '../support/pod.js';
import { until } from '../support/until.js';

/** Two schedulers and two workers with a cron that fires each second, through what happens to their Redis. */
export class Ticking {
  #schedulers: readonly Pod[] = [];

  constructor(private readonly deployment: Deployment) {}

  async start(): Promise<void> {
    const { pods } = this.deployment;
    const worker = (name: string) => pods.worker(name, { env: { CRONS: 'tick' } });
    const schedulers = Promise.all([pods.scheduler('s1'), pods.scheduler('s2')]);
    await Promise.all([schedulers, worker('w1'), worker('w2')]);
    this.#schedulers = await schedulers;
  }

  /** So many more instants than now have succeeded. The store may be away meanwhile, for who looks as for the pods. */
  async goesOn(count: number): Promise<void> {
    const since = await until('the ledger answers', async () => (await this.#last()) ?? false);
    await until(`${count} instants after ${new Date(since).toISOString()} succeeded`, async () => {
      const runs = await this.deployment.runsOf('tick').catch(() => []);
      return runs.filter(({ state, scheduledAt }) => state === 'succeeded' && scheduledAt > since).length >= count;
    });
  }

  /** The queues as a scheduler's Bull Board shows them. */
  async board(): Promise<unknown> {
    const [scheduler] = this.#schedulers;
    const said = scheduler?.lines.find(({ msg }) => msg?.includes(' listens on '))?.msg ?? '';
    const response = await fetch(`${said.split(' listens on ')[1]}/crons/queues/api/queues`);
    return ((await response.json()) as { queues: unknown }).queues;
  }

  /** No instant comes any more, and all that came have ended. */
  async end(): Promise<void> {
    const { pods } = this.deployment;
    await Promise.all(this.#schedulers.map((pod) => pod.terminate()));
    await this.deployment.settled('tick');
    await pods.terminateAll();
  }

  async #last(): Promise<number | null> {
    const [run] = await this.deployment.stores.ledger.runs('tick', 1).catch(() => []);
    return run?.scheduledAt ?? null;
  }
}
