import { LeaseLostError, sleep, type Clock, type Lease, type LeaseKeeper } from '@fencepost/lease';
import type { Ledger } from '../ledger/ledger.js';
import type { Telemetry } from '../telemetry/telemetry.js';

export interface CampaignDeps {
  readonly ledger: Ledger;
  readonly keeper: LeaseKeeper;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly random: () => number;
  readonly ttlMs: number;
}

/** Called with each term; its promise ends when the pod has stopped acting for the cron. */
export type Hold = (lease: Lease) => Promise<void>;

/** Pods that boot together each get their share of first tries, instead of the fastest getting all. */
const FIRST_TRY_SPREAD_MS = 250;

/** When a lease becomes free everybody tries; a few milliseconds apart, so that most see that they are too late. */
const SPREAD_MS = 10;

/**
 * A pod's continuing effort to hold one cron's lease: seek, hold, and again, until it is stopped.
 *
 * Two states, two methods, and neither knows of the other: River's elector is the model.
 */
export class Campaign {
  readonly #stop = new AbortController();
  #wake = new AbortController();
  #ended: Promise<void> = Promise.resolve();
  #halted = false;

  constructor(
    readonly cron: string,
    private readonly deps: CampaignDeps,
    private readonly hold: Hold,
  ) {}

  start(): void {
    this.#ended = this.#run();
  }

  /** Somebody announced that the lease is free. */
  wake(): void {
    this.#wake.abort();
  }

  /** Ends the effort without giving the term up: for a shutdown, which releases all terms of the pod in one batch. */
  halt(): void {
    this.#halted = true;
    this.#end();
  }

  /** Gives the term up, unless halted before, and resolves when nothing of this campaign runs any more. */
  async stop(): Promise<void> {
    this.#end();
    await this.#ended;
  }

  #end(): void {
    this.#stop.abort();
    this.#wake.abort();
  }

  async #run(): Promise<void> {
    await this.#pause(this.deps.random() * FIRST_TRY_SPREAD_MS);
    let short = 0;
    for (let lease = await this.#seek(); lease; lease = await this.#seek()) {
      const since = this.deps.clock.monotonic();
      await this.#keep(lease);
      short = this.deps.clock.monotonic() - since < this.deps.ttlMs ? short + 1 : 0;
      // A term whose first claim is refused would be followed by the next at once, and that one refused as well.
      if (short > 0) await this.#pause(this.#backoff(short), this.#stop);
    }
  }

  async #seek(): Promise<Lease | null> {
    let failures = 0;
    while (!this.#stop.signal.aborted) {
      // Listening starts before asking: a release announced while the answer is on its way must not be missed.
      this.#wake = new AbortController();
      try {
        const { fence } = await this.deps.ledger.readCron(this.cron);
        if (this.#stop.signal.aborted) return null;
        const reply = await this.deps.keeper.tryAcquire(this.cron, { ttlMs: this.deps.ttlMs, floor: fence });
        if (reply.acquired) return reply.lease;
        failures = 0;
        await this.#pause(reply.remainingMs);
        await this.#pause(this.deps.random() * SPREAD_MS, this.#stop);
      } catch (error) {
        failures += 1;
        this.deps.telemetry.emit('store.trouble', { doing: `campaign for ${this.cron}`, error: String(error) });
        await this.#pause(this.#backoff(failures), this.#stop);
      }
    }
    return null;
  }

  async #keep(lease: Lease): Promise<void> {
    const { telemetry } = this.deps;
    const { fence, holder, ttlMs } = lease;
    telemetry.emit('lease.acquired', { cron: this.cron, fence, holder, ttlMs });
    // A term that arrived after the stop is only given back.
    if (!this.#stop.signal.aborted) await Promise.race([this.hold(lease), this.#aborted(lease.signal)]);
    await this.#leave(lease);
  }

  /** Resolves when the term or this campaign ends. */
  async #aborted(term: AbortSignal): Promise<void> {
    // Ends the listening to the other one: a campaign has one signal of its own for all of its terms.
    const heard = new AbortController();
    await new Promise<void>((resolve) => {
      for (const signal of [term, this.#stop.signal]) {
        if (signal.aborted) resolve();
        signal.addEventListener('abort', () => resolve(), { signal: heard.signal });
      }
    });
    heard.abort();
  }

  async #leave(lease: Lease): Promise<void> {
    const { telemetry } = this.deps;
    const { fence, holder } = lease;
    const reason: unknown = lease.signal.reason;
    const lost = reason instanceof LeaseLostError;
    if (lost) telemetry.emit('lease.lost', { cron: this.cron, fence, holder, cause: reason.message });
    else telemetry.emit('lease.released', { cron: this.cron, fence, holder });
    // Ended and not lost, or about to be: the pod's shutdown releases it together with the others.
    if (this.#halted || (lease.signal.aborted && !lost)) return;
    await lease.release().catch((error: unknown) => {
      telemetry.emit('store.trouble', { doing: `release of ${this.cron}`, error: String(error) });
    });
  }

  /** Exponential from 100 ms up to a third of the TTL, jittered: an outage of the store is never met with a spin. */
  #backoff(failures: number): number {
    const longest = Math.min(50 * 2 ** failures, this.deps.ttlMs / 3);
    return longest * (0.5 + this.deps.random() / 2);
  }

  #pause(delayMs: number, until: AbortController = this.#wake): Promise<void> {
    return sleep(this.deps.clock, delayMs, until.signal);
  }
}
