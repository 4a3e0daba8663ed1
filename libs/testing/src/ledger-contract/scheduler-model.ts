import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { ClaimReply, ClaimRequest } from '@fencepost/ledger';
import type { OverlapPolicy, SkipRange } from '@fencepost/ledger/run';
import { once, type KnownRuns } from './known-runs.js';
import { fence, LONG_MS, type Stage } from './stage.js';

/** A scheduler: what it believes, right or wrong. */
interface Scheduler {
  fence: number;
  term: string;
  cursor: number;
}

/** How a run is to be made. */
export interface Manner {
  readonly overlap: OverlapPolicy;
  readonly maxConcurrency: number;
  /** Its start deadline has passed when it is claimed. */
  readonly late: boolean;
  /** What it replaces has no time to stop. */
  readonly ruthless: boolean;
  readonly twice: boolean;
}

const ACCEPTED: ClaimReply['verdict'][] = ['claimed', 'skipped'];

/** Three schedulers of one cron that act on what they believe, and an operator beside them. */
export class SchedulerModel {
  readonly #schedulers: Scheduler[] = [1, 2, 3].map((value) => ({ fence: value, term: `term ${value}`, cursor: 0 }));
  #cursor = 0;
  #accepted = 0;
  #issued = 3;
  #triggered = 0;
  #paused = false;

  constructor(
    private readonly stage: Stage,
    private readonly runs: KnownRuns,
  ) {}

  get cursor(): number {
    return this.#cursor;
  }

  elect(who: number): void {
    this.#issued += 1;
    Object.assign(this.#scheduler(who), { fence: this.#issued, term: `term ${this.#issued}` });
  }

  readCursor(who: number): void {
    this.#scheduler(who).cursor = this.#cursor;
  }

  async pause(): Promise<void> {
    await this.stage.ledger.pause(this.stage.cron, { by: 'ada', reason: 'because', until: null });
    this.#paused = true;
  }

  async resume(): Promise<void> {
    const ended = await this.stage.ledger.resume(this.stage.cron);
    expect(ended !== null).toBe(this.#paused);
    this.#paused = false;
  }

  /** I1, I3: claims an instant `ahead` of the cursor the scheduler believes in, and writes off those in between. */
  async claim(who: number, ahead: number, manner: Manner): Promise<void> {
    const scheduler = this.#scheduler(who);
    const n = scheduler.cursor + ahead;
    const request = await this.#request(scheduler, n, manner);
    // Whether others were in its way is said once: by the time of a repetition they may be gone.
    const claim = async () => ({ ...(await this.stage.ledger.claim(request)), behind: undefined });
    const reply = await once(claim, manner.twice);
    const inTurn = scheduler.fence >= this.#accepted && scheduler.cursor === this.#cursor;
    expect(ACCEPTED.includes(reply.verdict)).toBe(inTurn);
    if (!inTurn) return;
    this.#accepted = scheduler.fence;
    this.#cursor = scheduler.cursor = n;
    const id = this.stage.idOf(n);
    if (this.#paused) {
      expect(reply).toEqual({ verdict: 'skipped', reason: 'paused' });
      return expect(await this.stage.ledger.readRun(id)).toBeNull();
    }
    await this.#made(id, manner);
  }

  /** Somebody asks for a run: no pause and no cursor speaks against it. */
  async trigger(manner: Manner): Promise<void> {
    this.#triggered += 1;
    // Two of one millisecond would be in the order of their names.
    await this.stage.harness.advance(1);
    const runId = `${this.stage.cron}@manual-${this.#triggered}`;
    const { overlap, maxConcurrency } = manner;
    const rest = { reason: 'manual', generation: 1, by: 'ada', payload: null, handler: null } as const;
    const cancelGraceMs = graceOf(manner);
    const order = {
      runId,
      nonce: randomUUID(),
      scheduledAt: null,
      missed: null,
      overlap,
      maxConcurrency,
      cancelGraceMs,
    };
    const reply = await once(() => this.stage.ledger.trigger({ ...order, ...rest }), manner.twice);
    expect(ACCEPTED).toContain(reply.verdict);
    await this.#made(runId, { ...manner, late: false });
  }

  async check(): Promise<void> {
    const { fence: accepted, cursor, paused } = await this.stage.ledger.readCron(this.stage.cron);
    expect(accepted).toBe(this.#accepted);
    expect(cursor).toBe(this.#cursor === 0 ? null : this.stage.instant(this.#cursor));
    expect(paused !== null).toBe(this.#paused);
  }

  async #made(id: string, manner: Manner): Promise<void> {
    expect(this.runs.has(id)).toBe(false);
    await this.runs.add(id, manner);
    if (manner.overlap !== 'replace') return;
    if (manner.ruthless) await this.stage.harness.advance(2);
    await this.runs.notice();
  }

  async #request(scheduler: Scheduler, n: number, manner: Manner): Promise<ClaimRequest> {
    const { cursor, term } = scheduler;
    const { overlap, maxConcurrency, late } = manner;
    const skips: SkipRange[] =
      n - cursor < 2
        ? []
        : [{ after: this.stage.instant(cursor), through: this.stage.instant(n - 1), reason: 'misfire' }];
    return this.stage.request(n, {
      fence: fence(scheduler.fence),
      term,
      cursor: cursor === 0 ? null : this.stage.instant(cursor),
      skips,
      overlap,
      maxConcurrency,
      cancelGraceMs: graceOf(manner),
      startBy: late ? this.stage.instant(n) : null,
    });
  }

  #scheduler(who: number): Scheduler {
    return this.#schedulers[who % 3] as Scheduler;
  }
}

function graceOf({ ruthless }: Manner): number {
  return ruthless ? 1 : LONG_MS;
}
