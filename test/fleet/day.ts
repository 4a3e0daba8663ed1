import { VirtualClock } from '../simulation/virtual-clock.js';
import type { Costs } from './costs.js';
import { DayPod } from './day-pod.js';
import { Lateness } from './lateness.js';
import { Placement, podName } from './placement.js';
import { BEFORE_THE_MINUTE_MS, WAVES, ZONES, type PlayedResult } from './played-fleet.js';
import { OFTEN_S, type Schedules } from './schedules.js';
import { StoreServer } from './store-server.js';

export interface DayOptions {
  readonly schedules: Schedules;
  readonly pods: number;
  readonly hours: number;
  readonly costs: Costs;
  readonly played: PlayedResult;
}

export interface DayResult {
  readonly instants: number;
  readonly lost: number;
  readonly lateness: Lateness['figures'];
  /** Of instants that were due while others of a burst still waited. */
  readonly others: Lateness['figures'];
  /** Of instants whose pod was lost with its zone. */
  readonly zoneLoss: Lateness['figures'];
  readonly started: Lateness['figures'];
  readonly commandsPerSecond: { readonly mean: number; readonly busiestMinute: number };
  readonly redisPercent: { readonly mean: number; readonly busiestMinute: number };
  readonly imbalance: number;
  readonly moved: number;
}

const HOUR_S = 3_600;
const DAY_S = 24 * HOUR_S;
const MID_MINUTE_S = 30;
const WAVE_S = 20;
/** Runs that workers take at once. */
const WORKER_BATCH = 100;
/** A cron is one of the others of a burst if it is due this long after it. */
const AFTER_BURST_S = OFTEN_S;

interface Change {
  readonly atS: number;
  readonly joining: readonly string[];
  readonly leaving: readonly string[];
  readonly gapsMs: readonly number[];
  /** Of schedules whose instants are missed; only of a loss. */
  readonly dueGapsMs?: readonly number[];
}

/**
 * A day of all schedules, with midnight in its middle, a rolling deploy, and the loss of a zone that comes back. What falls due goes through the
 * slices of each pod to one server, which has the workers' runs to do besides; how long a cron has no holder after a change of
 * members comes from the pods that were played.
 */
export class Day {
  readonly #clock = new VirtualClock(0);
  readonly #server = new StoreServer(this.#clock);
  readonly #placement: Placement;
  readonly #pods = new Map<number, DayPod>();
  readonly #numberOf: ReadonlyMap<string, number>;
  readonly #readyAt: Float64Array;
  readonly #isLost: Uint8Array;
  readonly #late = { all: new Lateness(), others: new Lateness(), zone: new Lateness(), started: new Lateness() };
  readonly #runs: { readonly dueAt: number; count: number }[] = [];
  #working = false;
  #due = 0;
  #moved = 0;
  #imbalance = 0;

  constructor(private readonly options: DayOptions) {
    const { schedules, pods } = options;
    const names = Array.from({ length: schedules.count }, (_, n) => `schedule-${n}`);
    this.#numberOf = new Map(names.map((name, n) => [name, n]));
    this.#placement = new Placement(names, namesOf(1, pods));
    this.#readyAt = new Float64Array(names.length);
    this.#isLost = new Uint8Array(names.length);
    this.#imbalance = this.#placement.imbalance;
  }

  run(): DayResult {
    const { hours, played } = this.options;
    const changes = this.#changes();
    const perMinute: { commands: number; us: number }[] = [];
    for (let s = 0; s < hours * HOUR_S; s += OFTEN_S) {
      while (changes[0] && changes[0].atS < s) this.#change(changes.shift() as Change);
      this.#runUntil(s * 1_000);
      if (s % 60 === 0) perMinute.push({ commands: this.#server.commands, us: this.#server.busyUs });
      this.#fire(s, this.#secondOfDay(s));
    }
    this.#runUntil(hours * HOUR_S * 1_000 + 60_000);
    const idle = played.idle.commandsPerSecond;
    const minutes = perMinute.slice(1).map(({ commands, us }, n) => {
      const before = perMinute[n] ?? { commands: 0, us: 0 };
      return { commands: (commands - before.commands) / 60, percent: (us - before.us) / 600_000 };
    });
    const most = (of: 'commands' | 'percent') => minutes.reduce((max, minute) => Math.max(max, minute[of]), 0);
    const seconds = hours * HOUR_S;
    const { all, others, zone, started } = this.#late;
    return {
      ...{ instants: this.#due, lost: this.#due - all.count, lateness: all.figures, others: others.figures },
      ...{ zoneLoss: zone.figures, started: started.figures, imbalance: this.#imbalance, moved: this.#moved },
      commandsPerSecond: { mean: this.#server.commands / seconds + idle, busiestMinute: most('commands') + idle },
      redisPercent: {
        mean: this.#server.busyUs / seconds / 10_000 + played.idle.redisPercent,
        busiestMinute: most('percent') + played.idle.redisPercent,
      },
    };
  }

  /** Midnight is in the middle. */
  #secondOfDay(s: number): number {
    return (DAY_S - Math.ceil(this.options.hours / 2) * HOUR_S + s) % DAY_S;
  }

  #runUntil(end: number): void {
    while (this.#clock.step(end));
  }

  #changes(): Change[] {
    const { pods, hours, played } = this.options;
    const deploy = (atS: number, from: number) =>
      Array.from({ length: WAVES }, (_, wave): Change[] => {
        const part = Math.ceil(pods / WAVES);
        const count = Math.max(0, Math.min(part, pods - wave * part));
        const [joining, leaving] = [namesOf(from + pods + wave * part, count), namesOf(from + wave * part, count)];
        const gapsMs = played.deploy.gapsMs;
        return [
          { atS: atS + wave * WAVE_S, joining, leaving: [], gapsMs },
          { atS: atS + (wave + 0.5) * WAVE_S, joining: [], leaving, gapsMs },
        ];
      }).flat();
    const lost = namesOf(1 + pods, pods).filter((_, n) => n % ZONES === 0);
    const minutesOf = (part: number) => Math.floor(hours * 60 * part) * 60;
    const lossS = minutesOf(0.75) - BEFORE_THE_MINUTE_MS / 1_000;
    const fresh = namesOf(1 + 2 * pods, lost.length);
    return [
      ...deploy(minutesOf(0.25) + MID_MINUTE_S, 1),
      { atS: lossS, joining: [], leaving: lost, ...played.zoneLoss },
      {
        atS: minutesOf(0.875) + MID_MINUTE_S,
        joining: fresh,
        leaving: [],
        gapsMs: played.deploy.gapsMs,
      },
    ].toSorted((a, b) => a.atS - b.atS);
  }

  #change({ atS, joining, leaving, gapsMs, dueGapsMs }: Change): void {
    const atMs = atS * 1_000;
    this.#runUntil(atMs);
    const before = this.#placement.owner.slice();
    const moved = this.#placement.change(joining, leaving);
    const missed = new Set(dueGapsMs ? this.options.schedules.due(this.#secondOfDay(Math.ceil(atS))) : []);
    this.#moved += moved.length;
    this.#imbalance = Math.max(this.#imbalance, this.#placement.imbalance);
    moved.forEach((n, index) => {
      const gaps = (missed.has(n) && dueGapsMs) || gapsMs;
      this.#readyAt[n] = atMs + (gaps[index % gaps.length] ?? 0);
      if (dueGapsMs) this.#isLost[n] = 1;
      const name = this.#placement.names[n] ?? '';
      const dueAt = this.#pods.get(before[n] ?? -1)?.takeBack(name);
      if (dueAt !== undefined) this.#hand(n, dueAt);
    });
  }

  #fire(s: number, second: number): void {
    const { schedules } = this.options;
    for (const n of schedules.due(second)) {
      this.#due += 1;
      this.#hand(n, s * 1_000);
    }
  }

  /** To the pod that has it, as soon as it has it. */
  #hand(n: number, dueAt: number): void {
    const readyAt = Math.max(dueAt, this.#readyAt[n] ?? 0);
    const name = this.#placement.names[n] ?? '';
    const give = () => this.#pod(this.#placement.owner[n] ?? 0).due(name, dueAt);
    if (readyAt <= this.#clock.monotonic()) give();
    else this.#clock.after(readyAt - this.#clock.monotonic(), give);
  }

  #pod(number: number): DayPod {
    const known = this.#pods.get(number);
    if (known) return known;
    const { costs } = this.options;
    const onEnqueued = (crons: readonly string[], dues: readonly number[]) => this.#onEnqueued(crons, dues);
    const pod = new DayPod({ clock: this.#clock, server: this.#server, costs, onEnqueued });
    this.#pods.set(number, pod);
    return pod;
  }

  #onEnqueued(crons: readonly string[], dues: readonly number[]): void {
    const now = this.#clock.monotonic();
    crons.forEach((cron, index) => {
      const dueAt = dues[index] ?? now;
      const late = now - dueAt;
      const n = this.#numberOf.get(cron) ?? 0;
      this.#late.all.add(late);
      // Every tenth second that no other schedule has.
      if (dueAt % 60_000 >= AFTER_BURST_S * 1_000) this.#late.others.add(late);
      if (this.#isLost[n] === 1 && (this.#readyAt[n] ?? 0) > dueAt) this.#late.zone.add(late);
      const last = this.#runs.at(-1);
      if (last?.dueAt === dueAt) last.count += 1;
      else this.#runs.push({ dueAt, count: 1 });
    });
    this.#work();
  }

  /** Workers take runs in batches as long as there are any, beside what the schedulers do. */
  #work(): void {
    const first = this.#runs[0];
    if (this.#working || !first) return;
    this.#working = true;
    const count = Math.min(WORKER_BATCH, first.count);
    first.count -= count;
    if (first.count === 0) this.#runs.shift();
    const { costs } = this.options;
    this.#server.serve({ us: count * costs.runUs, commands: count * costs.runCommands }, () => {
      this.#late.started.add(this.#clock.monotonic() - first.dueAt, count);
      this.#working = false;
      this.#work();
    });
  }
}

function namesOf(from: number, count: number): string[] {
  return Array.from({ length: count }, (_, n) => podName(from + n));
}
