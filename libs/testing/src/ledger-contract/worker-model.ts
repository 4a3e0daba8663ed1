import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { AttemptOutcome, AttemptRef, EffectRequest } from '@fencepost/ledger';
import { isTerminal } from '@fencepost/ledger/run';
import { EffectModel, type Verdict } from './effect-model.js';
import { isAlive, isGivenUp, MAX_ATTEMPTS, once, type KnownRun, type KnownRuns } from './known-runs.js';
import { LONG_MS, type Stage } from './stage.js';

/** Any number of workers with whatever attempt they once had, the queue that brings them runs, and the sweep behind it. */
export class WorkerModel {
  readonly #attempts: AttemptRef[] = [];
  readonly #effects: EffectModel;
  #lastRunFence = 0;

  constructor(
    private readonly stage: Stage,
    private readonly runs: KnownRuns,
  ) {
    this.#effects = new EffectModel(stage);
  }

  async confirm(which: number): Promise<void> {
    const id = this.runs.pick(which);
    if (id) await this.stage.ledger.confirm([id]);
  }

  /** I4, I10, and that no more runs go on at once than may. */
  async begin(which: number, twice: boolean): Promise<void> {
    const id = this.runs.pick(which);
    if (!id) return;
    const known = this.runs.of(id);
    const request = this.stage.attempt(id, { maxAttempts: MAX_ATTEMPTS });
    const reply = await once(
      () => this.stage.ledger.begin(request),
      twice,
      (answer) => answer.verdict === 'begun',
    );
    if (known.last.state === 'uncertain') expect(reply.verdict).toBe('uncertain');
    else if (isAlive(known)) expect(reply.verdict).toBe('busy');
    else if (isGivenUp(known)) expect(reply.verdict).toBe('terminal');
    if (reply.verdict === 'terminal') known.current = null;
    // A successor fences out whoever was told to stop and has had its time.
    await this.runs.notice();
    if (reply.verdict !== 'begun') return;
    expect(reply.fence).toBeGreaterThan(this.#lastRunFence);
    expect(reply.attempt).toBeLessThanOrEqual(MAX_ATTEMPTS + known.extraAttempts);
    if (known.overlap !== 'allow') expect(this.runs.aliveBeside(id)).toBeLessThan(known.maxConcurrency);
    this.#lastRunFence = reply.fence;
    known.current = { runId: id, fence: reply.fence, nonce: request.nonce };
    known.lapsed = false;
    this.#attempts.push(known.current);
  }

  async heartbeat(which: number, silent: boolean): Promise<void> {
    await this.#withAttempt(which, async (attempt, known) => {
      const holds = known.current === attempt && !known.lapsed;
      const word = !holds ? 'stale' : known.last.cancel ? 'cancelled' : 'extended';
      expect(await this.stage.ledger.heartbeat(attempt, silent ? 1 : LONG_MS)).toBe(word);
      if (!silent || !holds) return;
      await this.stage.harness.advance(2);
      known.lapsed = true;
    });
  }

  /** I6. */
  async finish(which: number, outcome: AttemptOutcome, twice: boolean): Promise<void> {
    await this.#withAttempt(which, async (attempt, known) => {
      const state = await once(() => this.stage.ledger.finish(attempt, outcome), twice);
      if (known.current !== attempt) return;
      const goesOn = outcome.kind === 'retry' || outcome.kind === 'uncertain';
      const kept = outcome.kind === 'retry' ? 'enqueued' : outcome.kind;
      expect(state).toBe(goesOn && known.last.cancel ? 'cancelled' : kept);
      known.current = null;
    });
  }

  /** What waits ends, and what runs is told; with no grace its worker is as good as gone. */
  async cancel(which: number, ruthless: boolean, twice: boolean): Promise<void> {
    const id = this.runs.pick(which);
    if (!id) return;
    const known = this.runs.of(id);
    const order = { by: 'ada', reason: 'not needed', graceMs: ruthless ? 1 : LONG_MS };
    const { verdict } = await this.stage.ledger.cancel(id, order);
    const { state } = known.last;
    const over = state === 'cancelled' ? 'cancelled' : 'terminal';
    expect(verdict).toBe(isTerminal(state) ? over : isAlive(known) ? 'cancelling' : 'cancelled');
    if (verdict === 'cancelled') known.current = null;
    if (ruthless) await this.stage.harness.advance(2);
    if (twice) await this.stage.ledger.cancel(id, order);
    await this.runs.notice();
  }

  beginEffect(which: number, request: EffectRequest, twice: boolean): Promise<void> {
    return this.#withAttempt(which, (attempt, known) => this.#effects.begin({ attempt, known, twice }, request));
  }

  finishEffect(which: number, effect: string, twice: boolean): Promise<void> {
    return this.#withAttempt(which, (attempt, known) => this.#effects.finish({ attempt, known, twice }, effect));
  }

  failEffect(which: number, effect: string, twice: boolean): Promise<void> {
    return this.#withAttempt(which, (attempt, known) => this.#effects.fail({ attempt, known, twice }, effect));
  }

  async resolve(which: number, verdict: Verdict, twice: boolean): Promise<void> {
    const id = this.runs.pick(which);
    if (id) await this.#effects.resolve(this.runs.of(id), verdict, twice);
  }

  async redeliver(which: number, twice: boolean): Promise<void> {
    const id = this.runs.pick(which);
    if (!id) return;
    const known = this.runs.of(id);
    const last = await this.stage.delivery(id);
    const nonce = randomUUID();
    const reply = await once(() => this.stage.ledger.redeliver(last, nonce), twice);
    const delivered = !isTerminal(known.last.state) && known.last.state !== 'uncertain';
    expect(reply !== null).toBe(delivered && !isAlive(known) && !isGivenUp(known));
    if (!isAlive(known)) known.current = null;
  }

  /** A call by some attempt, fresh or stale; a stale one leaves the run as it was. */
  async #withAttempt(which: number, act: (attempt: AttemptRef, known: KnownRun) => Promise<void>): Promise<void> {
    const attempt = this.#attempts[which % Math.max(1, this.#attempts.length)];
    if (!attempt) return;
    const known = this.runs.of(attempt.runId);
    const before = await this.stage.run(attempt.runId);
    const stale = known.current !== attempt;
    await act(attempt, known);
    if (stale) expect(await this.stage.run(attempt.runId)).toEqual(before);
  }
}
