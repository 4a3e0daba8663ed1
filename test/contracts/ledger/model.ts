import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { AttemptOutcome, AttemptRef, ClaimReply, ClaimRequest } from '../../../libs/jobs/src/ledger/ledger.js';
import { isTerminal } from '../../../libs/jobs/src/ledger/run-state.js';
import type { Run, SkipRange } from '../../../libs/jobs/src/ledger/run.js';
import { fence, LONG_MS, type Stage } from './stage.js';

const MAX_ATTEMPTS = 3;

/** What the model knows of a run. */
interface Known {
  readonly claimNonce: string;
  /** The attempt that may change the run; `null` between two attempts. */
  current: AttemptRef | null;
  lapsed: boolean;
  last: Run;
  readonly begun: Map<string, Set<number>>;
  readonly done: Map<string, string>;
}

/** A scheduler: what it believes, right or wrong. */
interface Scheduler {
  fence: number;
  term: string;
  cursor: number;
}

/**
 * Drives one cron through its ledger and knows what has to come out. Schedulers act on what they believe, workers with
 * whatever attempt they once had; each call may be sent twice, as after a lost reply.
 */
export class Model {
  readonly runs = new Map<string, Known>();
  readonly attempts: AttemptRef[] = [];
  readonly passed: SkipRange[] = [];
  readonly #schedulers: Scheduler[] = [1, 2, 3].map((value) => ({ fence: value, term: `term ${value}`, cursor: 0 }));
  #cursor = 0;
  #accepted = 0;
  #issued = 3;
  #lastRunFence = 0;

  constructor(private readonly stage: Stage) {}

  elect(who: number): void {
    this.#issued += 1;
    Object.assign(this.#scheduler(who), { fence: this.#issued, term: `term ${this.#issued}` });
  }

  readCursor(who: number): void {
    this.#scheduler(who).cursor = this.#cursor;
  }

  /** I1, I3: claims an instant `ahead` of the cursor the scheduler believes in, and writes off those in between. */
  async claim(who: number, ahead: number, { skip, twice }: { skip: boolean; twice: boolean }): Promise<void> {
    const scheduler = this.#scheduler(who);
    const n = scheduler.cursor + ahead;
    const request = await this.#request(scheduler, n, skip);
    const reply = await this.#once(() => this.stage.ledger.claim(request), twice);
    const inTurn = scheduler.fence >= this.#accepted && scheduler.cursor === this.#cursor;
    expect(ACCEPTED.includes(reply.verdict)).toBe(inTurn);
    if (!inTurn) return;
    this.#accepted = scheduler.fence;
    this.#cursor = scheduler.cursor = n;
    this.passed.push(...request.skips);
    const id = this.stage.idOf(n);
    expect(this.runs.has(id)).toBe(false);
    const last = await this.stage.run(id);
    const nothing = { current: null, lapsed: false, begun: new Map(), done: new Map() };
    this.runs.set(id, { claimNonce: request.nonce, last, ...nothing });
  }

  async #request(scheduler: Scheduler, n: number, skip: boolean): Promise<ClaimRequest> {
    const { cursor, term } = scheduler;
    const skips: SkipRange[] =
      n - cursor < 2
        ? []
        : [{ after: this.stage.instant(cursor), through: this.stage.instant(n - 1), reason: 'misfire' }];
    return this.stage.request(n, {
      fence: fence(scheduler.fence),
      term,
      cursor: cursor === 0 ? null : this.stage.instant(cursor),
      skips,
      overlap: skip ? 'skip' : 'allow',
    });
  }

  async confirm(which: number): Promise<void> {
    const id = this.#pick(which);
    if (id) await this.stage.ledger.confirm([id]);
  }

  /** I4, I10. */
  async begin(which: number, twice: boolean): Promise<void> {
    const id = this.#pick(which);
    if (!id) return;
    const known = this.#known(id);
    const request = this.stage.attempt(id, { maxAttempts: MAX_ATTEMPTS });
    const reply = await this.#once(
      () => this.stage.ledger.begin(request),
      twice,
      (answer) => answer.verdict === 'begun',
    );
    if (reply.verdict === 'terminal') known.current = null;
    if (known.current !== null && !known.lapsed) expect(reply.verdict).toBe('busy');
    if (reply.verdict !== 'begun') return;
    expect(reply.fence).toBeGreaterThan(this.#lastRunFence);
    expect(reply.attempt).toBeLessThanOrEqual(MAX_ATTEMPTS);
    this.#lastRunFence = reply.fence;
    known.current = { runId: id, fence: reply.fence, nonce: request.nonce };
    known.lapsed = false;
    this.attempts.push(known.current);
  }

  async heartbeat(which: number, silent: boolean): Promise<void> {
    await this.#withAttempt(which, async (attempt, known) => {
      const holds = known.current === attempt && !known.lapsed;
      expect(await this.stage.ledger.heartbeat(attempt, silent ? 1 : LONG_MS)).toBe(holds);
      if (!silent || !holds) return;
      await this.stage.harness.advance(2);
      known.lapsed = true;
    });
  }

  /** I6. */
  async finish(which: number, outcome: AttemptOutcome, twice: boolean): Promise<void> {
    await this.#withAttempt(which, async (attempt, known) => {
      const state = await this.#once(() => this.stage.ledger.finish(attempt, outcome), twice);
      if (known.current !== attempt) return;
      expect(state).toBe(outcome.kind === 'retry' ? 'enqueued' : outcome.kind);
      known.current = null;
    });
  }

  async beginEffect(which: number, effect: string, twice: boolean): Promise<void> {
    await this.#withAttempt(which, async (attempt, known) => {
      const reply = await this.#once(() => this.stage.ledger.beginEffect(attempt, effect), twice);
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
      const reply = await this.#once(() => this.stage.ledger.finishEffect(attempt, effect, result), twice);
      const may = known.current === attempt || known.begun.get(effect)?.has(attempt.fence);
      if (known.done.has(effect)) expect(reply).not.toBe(may ? 'stale' : 'recorded');
      else expect(reply).toBe(known.current === attempt ? 'recorded' : may ? 'late' : 'stale');
      if (may && !known.done.has(effect)) known.done.set(effect, result);
    });
  }

  async redeliver(which: number, twice: boolean): Promise<void> {
    const id = this.#pick(which);
    if (!id) return;
    const known = this.#known(id);
    const nonce = randomUUID();
    const last = await this.stage.delivery(id);
    const reply = await this.#once(() => this.stage.ledger.redeliver(last, nonce), twice);
    const alive = known.current !== null && !known.lapsed;
    expect(reply !== null).toBe(!alive && !isTerminal(known.last.state));
    if (reply !== null) known.current = null;
  }

  /** I5, I6, I10: whatever was called, only the current attempt has changed a run, and what is over stays as it is. */
  async check(): Promise<void> {
    for (const [id, known] of this.runs) {
      const run = await this.stage.run(id);
      if (isTerminal(known.last.state)) expect(run).toEqual(known.last);
      expect(run.attempt).toBeLessThanOrEqual(MAX_ATTEMPTS);
      expect(run.state === 'running').toBe(known.current !== null);
      known.last = run;
    }
    const { fence: accepted, cursor } = await this.stage.ledger.readCron(this.stage.cron);
    expect(accepted).toBe(this.#accepted);
    expect(cursor).toBe(this.#cursor === 0 ? null : this.stage.instant(this.#cursor));
  }

  /** Every worker that is still there goes silent. */
  async lapseAll(): Promise<void> {
    for (const known of this.runs.values()) {
      if (known.current === null || known.lapsed) continue;
      await this.stage.lapse(known.current);
      known.lapsed = true;
    }
  }

  get cursor(): number {
    return this.#cursor;
  }

  /** A call by some attempt, fresh or stale; a stale one leaves the run as it was. */
  async #withAttempt(which: number, act: (attempt: AttemptRef, known: Known) => Promise<void>): Promise<void> {
    const attempt = this.attempts[which % Math.max(1, this.attempts.length)];
    if (!attempt) return;
    const known = this.#known(attempt.runId);
    const before = await this.stage.run(attempt.runId);
    const stale = known.current !== attempt;
    await act(attempt, known);
    if (stale) expect(await this.stage.run(attempt.runId)).toEqual(before);
  }

  async #once<T>(call: () => Promise<T>, twice: boolean, repeats: (reply: T) => boolean = () => true): Promise<T> {
    const reply = await call();
    if (twice && repeats(reply)) expect(await call()).toEqual(reply);
    return reply;
  }

  #scheduler(who: number): Scheduler {
    return this.#schedulers[who % 3] as Scheduler;
  }

  #pick(which: number): string | undefined {
    return [...this.runs.keys()][which % Math.max(1, this.runs.size)];
  }

  #known(id: string): Known {
    const known = this.runs.get(id);
    if (!known) throw new Error(`The model knows no run ${id}.`);
    return known;
  }
}

const ACCEPTED: ClaimReply['verdict'][] = ['claimed', 'skipped'];
