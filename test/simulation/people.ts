import { isTerminal } from '@fencepost/ledger/run';
import type { Answer, Run } from '@fencepost/ledger/run';
import { CronOperator, RunOperator } from '@fencepost/operations';
import { seededRandom } from '../support/seeded-random.js';
import type { Mishap } from './plan.js';
import type { Ports } from './ports.js';
import type { SimProcess } from './sim-process.js';

export interface PeopleDeps {
  readonly process: SimProcess;
  readonly ports: Ports;
  readonly seed: number;
  /** What somebody says who looks into the system behind an effect. */
  readonly answerFor: (run: Run) => Answer;
  readonly crons: () => readonly string[];
}

const LOOK_EVERY_MS = 40 * 60_000;
const HOUR_MS = 3_600_000;
const ORDER = { by: 'ada', reason: 'the simulation says so' } as const;

/** The people who run the deployment, with the operators that its command line uses. An order that fails is given up. */
export class People {
  readonly #crons: CronOperator;
  readonly #runs: RunOperator;
  #refused = 0;

  constructor(private readonly deps: PeopleDeps) {
    const { ports, process, seed } = deps;
    const random = seededRandom(seed);
    const randomUUID = () => uuid(random);
    this.#crons = new CronOperator({ ...ports, clock: process.clock, randomUUID });
    this.#runs = new RunOperator({ ...ports, randomUUID });
  }

  /** How many orders were answered with an error. */
  get refused(): number {
    return this.#refused;
  }

  /** Answers questions now and then, for as long as the deployment is there. */
  watch(): void {
    this.deps.process.clock.after(LOOK_EVERY_MS, () => {
      void this.answerAll();
      this.watch();
    });
  }

  async answerAll(): Promise<void> {
    await this.#try(async () => {
      for (const run of await this.#runs.uncertain({ limit: 1_000 })) await this.#answer(run);
    });
  }

  async pause({ forMs, strength, ...mishap }: Mishap): Promise<void> {
    const cron = this.#cron(mishap.target);
    const { clock } = this.deps.process;
    const until = strength < 0.3 ? clock.now() + forMs : null;
    await this.#try(() => this.#crons.pause(cron, { ...ORDER, until }));
    const missed = strength < 0.6 ? 'fire-once' : 'skip';
    clock.after(forMs, () => void this.#try(() => this.#crons.resume(cron, { ...ORDER, missed })));
  }

  /** Whatever is paused goes on. */
  async resumeAll(): Promise<void> {
    for (const cron of this.deps.crons()) await this.#try(() => this.#crons.resume(cron, ORDER));
  }

  /** What no process that is left can carry out is given up: its cron has gone with its build. */
  async cancelUnhandled(): Promise<void> {
    const { ledger, catalog } = this.deps.ports;
    await this.#try(async () => {
      for (const { definition } of (await catalog.read()).entries) {
        const waiting = (await ledger.runs(definition.name, 1_000)).filter(
          ({ waiting: why }) => why === 'no-capable-worker',
        );
        for (const { id } of waiting) await this.#try(() => this.#crons.cancel(id, ORDER));
      }
    });
  }

  /** No new run comes; what is there comes to its end. */
  async pauseAll(): Promise<void> {
    for (const cron of this.deps.crons()) await this.#try(() => this.#crons.pause(cron, ORDER));
  }

  async trigger({ target, strength }: Mishap): Promise<void> {
    const order = { ...ORDER, force: strength < 0.3, payload: { strength } };
    await this.#try(() => this.#crons.trigger(this.#cron(target), order));
  }

  async cancel({ target, strength, forMs }: Mishap): Promise<void> {
    await this.#try(async () => {
      const runs = await this.deps.ports.ledger.runs(this.#cron(target), 20);
      const open = runs.filter(({ state }) => !isTerminal(state));
      const run = open[Math.floor(strength * open.length)];
      if (run) await this.#crons.cancel(run.id, strength < 0.5 ? ORDER : { ...ORDER, graceMs: Math.floor(forMs / 10) });
    });
  }

  async backfill({ target, strength, forMs }: Mishap): Promise<void> {
    const to = this.deps.process.clock.now() - Math.floor(strength * 2 * HOUR_MS);
    const order = { ...ORDER, from: to - 2 * forMs, to };
    await this.#try(() => this.#crons.backfill(this.#cron(target), order));
  }

  async retry({ target, strength }: Mishap): Promise<void> {
    await this.#try(async () => {
      const failed = await this.#runs.failed({ cron: this.#cron(target), limit: 10 });
      const run = failed[Math.floor(strength * failed.length)];
      if (run) await this.#runs.retry(run.id, { ...ORDER, repeatUnknown: strength < 0.2 });
    });
  }

  async #answer(run: Run): Promise<void> {
    const answer = this.deps.answerFor(run);
    const result = answer.verdict === 'done' ? { result: JSON.parse(answer.result) as unknown } : {};
    const { attempt, unresolvedEffect } = run;
    if (!unresolvedEffect) return;
    const { effect, item, since } = unresolvedEffect;
    const order = { ...ORDER, attempt, effect, item, since, answer: answer.verdict, ...result };
    await this.#try(() => this.#runs.resolve(run.id, order));
  }

  #cron(luck: number): string {
    const crons = this.deps.crons();
    return crons[Math.floor(luck * crons.length)] ?? '';
  }

  async #try(order: () => Promise<unknown>): Promise<void> {
    try {
      await order();
    } catch {
      this.#refused += 1;
    }
  }
}

/** As good as any for a world that has a few thousand of them. */
function uuid(random: () => number): string {
  const digits = () =>
    Math.floor(random() * 2 ** 32)
      .toString(16)
      .padStart(8, '0');
  const [a, b, c, d] = [digits(), digits(), digits(), digits()];
  return `${a}-${b.slice(0, 4)}-4${b.slice(5)}-8${c.slice(1, 4)}-${c.slice(4)}${d}`;
}
