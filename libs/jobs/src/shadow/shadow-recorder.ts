import type { CancelTimer } from '@fencepost/lease/internal';
import type { Clock } from '@fencepost/lease';
import { parseSchedule, type CronSchedule } from '@fencepost/schedule';
import { HEARTBEAT_MS, type Membership } from '../membership/membership.js';
import { candidates, firstOf, hashOf } from '../scheduling/rendezvous.js';
import type { ShadowCron, ShadowInterval, ShadowLog, ShadowRecord } from './shadow-log.js';

export interface ShadowRecorderDeps {
  readonly clock: Clock;
  readonly log: Pick<ShadowLog, 'write' | 'writeIntervals'>;
  readonly membership: Pick<Membership, 'heartbeat' | 'leave'>;
  readonly pod: string;
  /** The store did not answer: what it did not get is lost, and the report lacks it. */
  readonly onFailure: (error: unknown) => void;
}

interface Watched extends ShadowCron {
  readonly schedule: CronSchedule;
  readonly hash: number;
  /** Counts from here, epoch milliseconds. */
  readonly from: number;
  next: number | null;
}

/** While the store is away, more than this is not kept. */
const MAX_BUFFERED = 10_000;

/** The bounds of what is watched are moved on this often. */
const SEEN_EVERY = 10;

/**
 * Records what this pod ran, and which instants Fencepost would have run here: those of the crons that rendezvous hashing over
 * the live pods assigns to it, as a scheduler pod's leases do. It acquires nothing and runs nothing.
 */
export class ShadowRecorder {
  readonly #watched = new Map<string, Watched>();
  readonly #intervals: ShadowInterval[] = [];
  #buffer: ShadowRecord[] = [];
  #beats = 0;
  #cancel: CancelTimer = () => {};
  #stopped = false;

  constructor(private readonly deps: ShadowRecorderDeps) {}

  /**
   * @param delayMs after which it fires for the first time
   * @throws {ScheduleError} for an expression that Fencepost doesn't read
   */
  watch({ name, expression, timeZone }: ShadowCron, delayMs = 0): void {
    const from = this.deps.clock.now() + delayMs;
    const schedule = parseSchedule({ expression, timeZone, seed: name }, from);
    this.#watched.set(name, {
      name,
      expression,
      timeZone,
      schedule,
      hash: hashOf(name),
      from,
      next: schedule.next(from),
    });
  }

  /** Only that there is one. */
  noteInterval(interval: ShadowInterval): void {
    this.#intervals.push(interval);
  }

  /** The number of crons. */
  get size(): number {
    return this.#watched.size;
  }

  /** The old way begins a tick, or leaves it out. */
  note(kind: 'tick' | 'busy', cron: string): void {
    this.#record({ kind, cron, pod: this.deps.pod, at: this.deps.clock.now() });
  }

  start(): void {
    void this.beat();
  }

  /** What is not written yet is written; the crons are other pods' at once. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancel();
    await this.#flush(true);
    await this.deps.membership.leave(this.deps.pod).catch(this.deps.onFailure);
  }

  /** One heartbeat: who is live, what came due since the last one, and what is to be written. */
  async beat(): Promise<void> {
    const { clock, membership, pod, onFailure } = this.deps;
    try {
      const { members } = await membership.heartbeat(pod);
      this.#noteDue(members.map((member) => member.pod));
      await this.#flush(this.#beats % SEEN_EVERY === 0);
      this.#beats += 1;
    } catch (error) {
      onFailure(error);
    }
    if (!this.#stopped) this.#cancel = clock.after(HEARTBEAT_MS, () => void this.beat());
  }

  #noteDue(members: readonly string[]): void {
    const { clock, pod } = this.deps;
    const [now, pods] = [clock.now(), candidates(members)];
    for (const cron of this.#watched.values()) {
      const isMine = firstOf(cron.hash, pods) === pod;
      // A pod that stood still has missed its instants: another one would have run them.
      if (cron.next !== null && cron.next < now - 2 * HEARTBEAT_MS)
        cron.next = cron.schedule.next(now - 2 * HEARTBEAT_MS);
      for (; cron.next !== null && cron.next <= now; cron.next = cron.schedule.next(cron.next)) {
        if (isMine) this.#record({ kind: 'due', cron: cron.name, pod, at: cron.next });
      }
    }
  }

  async #flush(seen: boolean): Promise<void> {
    const records = this.#buffer;
    this.#buffer = [];
    const until = this.deps.clock.now();
    const watched = seen ? [...this.#watched.values()].filter(({ from }) => from <= until) : [];
    const crons = watched.map(({ name, expression, timeZone, from }) => ({
      name,
      expression,
      timeZone,
      since: from,
      until,
    }));
    const { log, onFailure } = this.deps;
    if (records.length > 0 || crons.length > 0) await log.write(crons, records).catch(onFailure);
    if (seen && this.#intervals.length > 0) await log.writeIntervals(this.#intervals, until).catch(onFailure);
  }

  #record(record: ShadowRecord): void {
    if (this.#buffer.length < MAX_BUFFERED) this.#buffer.push(record);
  }
}
