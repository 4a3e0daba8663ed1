import { RunOperator } from '@fencepost/operations';
import type { Ledger } from '@fencepost/ledger';
import type { Run } from '@fencepost/ledger/run';
import type { EpisodeStores } from './episode.js';
import type { Sinks } from './sinks.js';

/** Before that a frozen attempt may still come back and say it itself. */
const PATIENCE_MS = 2_000;
const MAX = 1_000;

interface Told {
  readonly since: number;
  readonly answer?: 'done' | 'not-done';
}

/** Answers runs that are uncertain as a person does: by looking into the system that the effect changes. */
export class Answerer {
  /** Runs that have asked. */
  readonly asked = new Set<string>();
  readonly counts = { done: 0, 'not-done': 0 };
  /** By run and attempt: what was said once is said again when nobody knows whether it was heard. */
  readonly #told = new Map<string, Told>();
  readonly #operator: RunOperator;

  constructor(
    private readonly ledger: Ledger,
    private readonly sinks: Sinks,
    stores: EpisodeStores,
  ) {
    this.#operator = new RunOperator({ ...stores, ledger });
  }

  /** Looks once. Rejects when a store did not answer: then the next look does it. */
  async look(crons: readonly string[]): Promise<void> {
    if (crons.length === 0) return;
    for (const run of await this.ledger.runsIn('uncertain', crons, MAX)) await this.#consider(run);
  }

  async #consider({ id, attempt, unresolvedEffect: asked }: Run): Promise<void> {
    if (!asked) return;
    this.asked.add(id);
    const question = `${id}#${attempt}`;
    const told = this.#told.get(question) ?? { since: performance.now() };
    this.#told.set(question, told);
    if (performance.now() - told.since < PATIENCE_MS) return;
    const answer = told.answer ?? (await this.#findOut(id));
    if (!told.answer) this.#told.set(question, { ...told, answer });
    const { effect, item, since } = asked;
    const order = { answer, by: 'the oracle', reason: 'it has looked into the sink' } as const;
    await this.#operator.resolve(id, { ...order, attempt, effect, item, since });
    this.counts[answer] += 1;
  }

  async #findOut(runId: string): Promise<'done' | 'not-done'> {
    const answer = (await this.sinks.hasActed(runId)) ? 'done' : 'not-done';
    await this.sinks.noteAnswer(runId, answer);
    return answer;
  }
}
