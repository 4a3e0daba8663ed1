import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { AttemptOutcome, AttemptRef, EffectRequest } from '@fencepost/ledger';
import { isTerminal, type Answer } from '@fencepost/ledger/run';
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
    const order = { by: 'ada', graceMs: ruthless ? 1 : LONG_MS };
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

type Verdict = Answer['verdict'];

/** A call by some attempt of a run, made twice as after a lost reply or once. */
interface Call {
  readonly attempt: AttemptRef;
  readonly known: KnownRun;
  readonly twice: boolean;
}

/** What becomes of the effects of a run, whoever begins and ends them. */
class EffectModel {
  constructor(private readonly stage: Stage) {}

  /** I7: who asks for it is never let begin what another attempt began, unless that has failed or somebody said so. */
  async begin({ attempt, known, twice }: Call, request: EffectRequest): Promise<void> {
    const { name } = request;
    const reply = await once(async () => ageless(await this.stage.ledger.beginEffect(attempt, request)), twice);
    if (known.current !== attempt || known.lapsed) return expect(reply).toEqual({ verdict: 'stale' });
    const result = known.done.get(name);
    if (result !== undefined) return expect(reply).toMatchObject({ verdict: 'done', result });
    const first = known.first.get(name) ?? attempt.fence;
    const asks = request.ifUnknown === 'tell' && first !== attempt.fence;
    expect(reply).toMatchObject({ verdict: asks ? 'unknown' : 'go' });
    expect('unknown' in reply && reply.unknown !== null).toBe(first !== attempt.fence);
    if (asks) return;
    known.first.set(name, first);
    known.begun.set(name, (known.begun.get(name) ?? new Set()).add(attempt.fence));
  }

  /** I8. */
  async finish({ attempt, known, twice }: Call, effect: string): Promise<void> {
    const result = JSON.stringify(randomUUID());
    const reply = await once(() => this.stage.finishEffect(attempt, effect, result), twice);
    const may = known.current === attempt || known.begun.get(effect)?.has(attempt.fence);
    if (known.done.has(effect)) expect(reply).not.toBe(may ? 'stale' : 'recorded');
    else expect(reply).toBe(known.current === attempt ? 'recorded' : may ? 'late' : 'stale');
    if (may && !known.done.has(effect)) known.done.set(effect, result);
  }

  /** I8. */
  async fail({ attempt, known, twice }: Call, effect: string): Promise<void> {
    const reply = await once(() => this.stage.failEffect(attempt, effect), twice);
    if (known.done.has(effect)) return expect(reply).not.toBe('recorded');
    expect(reply).toBe(known.current === attempt ? 'recorded' : 'stale');
    if (known.current === attempt) known.first.delete(effect);
  }

  /** I8 as well: what arrived as done meanwhile stands. */
  async resolve(known: KnownRun, verdict: Verdict, twice: boolean): Promise<void> {
    const { id, state, unresolvedEffect } = known.last;
    const request = await this.stage.answer(id, verdict);
    const reply = await once(() => this.stage.ledger.resolve(id, request), twice);
    if (state !== 'uncertain') return expect(reply).toEqual({ verdict: 'certain', state });
    expect(reply).toMatchObject({ verdict: 'resolved', state: verdict === 'give-up' ? 'failed' : 'enqueued' });
    const effect = unresolvedEffect?.effect ?? '';
    if (verdict === 'give-up') return;
    known.extraAttempts += 1;
    if (verdict === 'not-done') known.first.delete(effect);
    else if (!known.done.has(effect)) known.done.set(effect, '"by hand"');
  }
}

/** How long ago it was differs between two calls. */
function ageless<T extends object>(reply: T): T {
  const unknown = 'unknown' in reply ? (reply.unknown as object | null) : null;
  return unknown === null ? reply : { ...reply, unknown: { ...unknown, ageMs: 0 } };
}
