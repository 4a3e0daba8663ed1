import type { Run, SkipRange } from '@fencepost/ledger/run';
import { audit } from '@fencepost/operations/audit';
import type { TurnedDown } from '@fencepost/lease/sinks';
import type { Holding } from '@fencepost/lease/store';
import type { Stores } from './stores.js';
import { tally, type Tally } from './tally.js';
import { podOf } from './words.js';

export interface CronLook {
  readonly name: string;
  readonly holding: Holding | null;
  readonly refusals: number;
  /** Of the last minute, like the skips. */
  readonly runs: readonly Run[];
  readonly skips: readonly SkipRange[];
}

/** What the stores have at one moment. */
export interface Look {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly crons: readonly CronLook[];
  readonly turnedDown: TurnedDown;
}

/** The leases and runs that other pods would take over if this one were lost. */
export function workOf(pod: string, { crons }: Look): { readonly leases: readonly CronLook[]; readonly runs: Run[] } {
  return {
    leases: crons.filter(({ holding }) => holding !== null && podOf(holding.holder) === pod),
    runs: crons.flatMap(({ runs }) => runs.filter(({ state, worker }) => state === 'running' && podOf(worker) === pod)),
  };
}

export const NOTHING_SEEN: Look = { at: 0, crons: [], turnedDown: { stale: 0, repeated: 0 } };

const RECENT_MS = 60_000;

/** Reads the stores, and keeps what they may forget. */
export class Observer {
  readonly #runs = new Map<string, Run>();
  readonly #writes = new Map<string, number>();

  constructor(private readonly stores: Stores) {}

  async look(): Promise<Look> {
    const { catalog, ledger, leases, sink, clock } = this.stores;
    const active = (await catalog.read()).entries.filter(({ state }) => state === 'active');
    const names = active.map(({ definition }) => definition.name);
    const [holdings, records] = await Promise.all([leases.inspect(names), ledger.readCrons(names)]);
    const now = clock.now();
    const accounts = await Promise.all(names.map((name) => ledger.account(name, now - RECENT_MS, now + 1)));
    for (const run of accounts.flatMap(({ runs }) => runs)) this.#runs.set(run.id, run);
    const crons = accounts.map(({ runs, skips }, index) => {
      const { refusals = 0 } = records[index] ?? {};
      return { name: names[index] ?? '', holding: holdings[index] ?? null, refusals, runs, skips };
    });
    return { at: now, crons, turnedDown: await sink.turnedDown() };
  }

  /**
   * Counts everything since the start.
   * @param end no instant after this one counts; by default, and at most, as far as an audit can tell
   * @returns `complete`: whether it could tell up to `end`
   */
  async count(end?: number): Promise<Tally & { readonly complete: boolean }> {
    const report = await audit(this.stores, end === undefined ? {} : { to: end });
    const { crons, turnedDown } = await this.look();
    // After the runs: a run that succeeded has written its effects before.
    const times = new Map<string, number>();
    for (const { idempotencyKey: key } of await this.stores.sink.journal()) times.set(key, (times.get(key) ?? 0) + 1);
    for (const [key, n] of times) this.#writes.set(key, Math.max(n, this.#writes.get(key) ?? 0));
    const refusals = crons.reduce((total, cron) => total + cron.refusals, 0);
    const evidence = { report, refusals, turnedDown, runs: [...this.#runs.values()], writes: this.#writes };
    return { ...tally(evidence), complete: report.to >= (end ?? report.to) };
  }
}
