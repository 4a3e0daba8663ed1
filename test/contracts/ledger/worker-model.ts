import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { AttemptOutcome, AttemptRef } from '../../../libs/jobs/src/ledger/ledger.js';
import { isTerminal } from '../../../libs/jobs/src/ledger/run-state.js';
import { isAlive, isGivenUp, MAX_ATTEMPTS, once, type KnownRun, type KnownRuns } from './known-runs.js';
import { LONG_MS, type Stage } from './stage.js';

/** Any number of workers with whatever attempt they once had, the queue that brings them runs, and the sweep behind it. */
export class WorkerModel {
  readonly #attempts: AttemptRef[] = [];
  #lastRunFence = 0;

  constructor(
    private readonly stage: Stage,
    private readonly runs: KnownRuns,
  ) {}

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
    if (isAlive(known)) expect(reply.verdict).toBe('busy');
    else if (isGivenUp(known)) expect(reply.verdict).toBe('terminal');
    if (reply.verdict === 'terminal') known.current = null;
    // A successor fences out whoever was told to stop and has had its time.
    await this.runs.notice();
    if (reply.verdict !== 'begun') return;
    expect(reply.fence).toBeGreaterThan(this.#lastRunFence);
    expect(reply.attempt).toBeLessThanOrEqual(MAX_ATTEMPTS);
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
      const waits = known.last.cancel ? 'cancelled' : 'enqueued';
      expect(state).toBe(outcome.kind === 'retry' ? waits : outcome.kind);
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

  async beginEffect(which: number, effect: string, twice: boolean): Promise<void> {
    await this.#withAttempt(which, async (attempt, known) => {
      const reply = await once(() => this.stage.ledger.beginEffect(attempt, effect), twice);
      if (known.current !== attempt || known.lapsed) return expect(reply).toEqual({ verdict: 'stale' });
      const result = known.done.get(effect);
      if (result !== undefined) return expect(reply).toEqual({ verdict: 'done', result });
      const begun = known.begun.get(effect) ?? new Set();
      expect(reply).toEqual({ verdict: 'go', unknown: [...begun].some((other) => other !== attempt.fence) });
      known.begun.set(effect, begun.add(attempt.fence));
    });
  }

  /** I8. */
  async finishEffect(which: number, effect: string, twice: boolean): Promise<void> {
    await this.#withAttempt(which, async (attempt, known) => {
      const result = JSON.stringify(randomUUID());
      const reply = await once(() => this.stage.ledger.finishEffect(attempt, effect, result), twice);
      const may = known.current === attempt || known.begun.get(effect)?.has(attempt.fence);
      if (known.done.has(effect)) expect(reply).not.toBe(may ? 'stale' : 'recorded');
      else expect(reply).toBe(known.current === attempt ? 'recorded' : may ? 'late' : 'stale');
      if (may && !known.done.has(effect)) known.done.set(effect, result);
    });
  }

  async redeliver(which: number, twice: boolean): Promise<void> {
    const id = this.runs.pick(which);
    if (!id) return;
    const known = this.runs.of(id);
    const last = await this.stage.delivery(id);
    const nonce = randomUUID();
    const reply = await once(() => this.stage.ledger.redeliver(last, nonce), twice);
    expect(reply !== null).toBe(!isAlive(known) && !isTerminal(known.last.state) && !isGivenUp(known));
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
