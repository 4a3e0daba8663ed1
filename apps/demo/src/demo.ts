import type { Clock } from '@fencepost/lease';
import { sleep } from '@fencepost/lease/internal';
import { stageFaults, type Strike } from './chaos.js';
import { Events, type Event } from './events.js';
import { NOTHING_SEEN, workOf, type Look, type Observer } from './observer.js';
import type { DemoOptions } from './options.js';
import { Pods, SIZES, type Pod } from './pods.js';
import { closing, table, type Closing } from './report.js';
import type { Stopping } from './stopping.js';
import type { Tally } from './tally.js';
import { span } from './words.js';

export interface DemoDeps {
  readonly options: DemoOptions;
  readonly seed: number;
  readonly clock: Clock;
  readonly stopping: Stopping;
  readonly observer: Observer;
  readonly podEnv: Readonly<Record<string, string>>;
  readonly folder: string;
  readonly tell: (...event: Event) => void;
  /** Shows the status at all times; `null`: it is told now and then. */
  readonly show: ((status: readonly string[]) => void) | null;
}

/** How long to wait for open runs when the time is up. */
const SETTLE_MS = 30_000;
const STOP_MS = 8_000;
const LOOK_MS = 250;
const STATUS_MS = 10_000;
/** Counting may take at most a twentieth of the time, however much there is to count. */
const STATUS_SHARE = 20;
/** A Redis that restarts is waited for. */
const BLIND_MS = 10_000;

const WHAT_RUNS = [
  'pulse samples Redis every 2 s, latency-report times its commands every 10 s',
  'snapshot packs the samples every 5 s; its archive refuses now and then, and',
  'the run is retried: a retry skips the effects that are done',
];

/** Starts the pods, watches the stores, injects faults if asked to, lets open runs end, counts, and stops the pods. */
export class Demo {
  readonly #events = new Events();
  readonly #pods: Pods;
  readonly #over = new AbortController();
  /** Aborts with the reason when the demo can't go on. */
  readonly #broken = new AbortController();
  readonly #interrupted: AbortSignal;
  readonly #hits = { kill: 0, freeze: 0 };
  #look: Look = NOTHING_SEEN;
  #statusAt = Infinity;
  #tally: Tally | null = null;
  #page: readonly string[] = [];

  constructor(private readonly deps: DemoDeps) {
    const { clock, folder, podEnv: env, stopping, tell } = deps;
    const onUp = (pod: Pod) => tell('pod', `${pod.name} is up, pid ${pod.pid}, http://127.0.0.1:${pod.port}`);
    const onEnded = ({ name }: Pod, how: string) => this.#hit(name, `${name} ended (${how}) unexpectedly`);
    this.#pods = new Pods({ clock, folder, env, onUp, onEnded });
    this.#interrupted = AbortSignal.any([stopping.inOrder, this.#broken.signal]);
    const gone = new Error('The supervisor of the pods is gone.');
    this.#pods.gone.addEventListener('abort', () => this.#broken.abort(gone));
    stopping.atOnce.addEventListener('abort', () => void this.#pods.end());
  }

  /** @returns the verdict, or `null` when it was ended before there was anything to judge */
  async run(): Promise<Closing | null> {
    const watching = this.#watch().catch((error: unknown) => this.#broken.abort(error));
    try {
      // Schedulers first: they then look at every cron from its first instant on.
      for (const role of ['scheduler', 'worker'] as const)
        if (!this.#interrupted.aborted) await this.#pods.start(role, this.#interrupted);
      const end = this.#interrupted.aborted && this.#look.crons.length === 0 ? null : await this.#observe();
      if (this.deps.stopping.atOnce.aborted) return null;
      // Only now: ending it at once takes the supervisor away too, which is no fault then.
      this.#broken.signal.throwIfAborted();
      return end;
    } finally {
      await this.#pods.stop(STOP_MS);
      this.#over.abort();
      await watching;
    }
  }

  async #observe(): Promise<Closing> {
    const { clock, options, seed, tell } = this.deps;
    const [first] = this.#pods.all();
    const page = `http://127.0.0.1:${first?.port}`;
    // A line each: none is cut in a window of 80 columns.
    this.#page = [`page        ${page}/crons/`, `Bull Board  ${page}/crons/queues/`, `metrics     ${page}/metrics`];
    for (const line of [...this.#page, ...WHAT_RUNS, 'Ctrl-C ends it']) tell('note', line);
    const begunAt = clock.monotonic();
    this.#statusAt = begunAt + STATUS_MS / 2;
    const lengthMs = (options.seconds ?? Infinity) * 1_000;
    const chaosEnd = new AbortController();
    const chaos = options.chaos && this.#chaos(begunAt + lengthMs, chaosEnd.signal);
    await sleep(clock, lengthMs, this.#interrupted);
    const [end, ranMs] = [clock.now(), clock.monotonic() - begunAt];
    chaosEnd.abort();
    await chaos;
    const { scheduler: schedulers, worker: workers } = SIZES;
    const { kill: kills, freeze: freezes } = this.#hits;
    const course = { seconds: Math.round(ranMs / 1_000), schedulers, workers, kills, freezes };
    return closing(await this.#settled(end), { ...course, seed: options.chaos ? seed : null });
  }

  async #settled(end: number): Promise<Tally & { readonly complete: boolean }> {
    const { clock, observer, stopping } = this.deps;
    const deadline = clock.monotonic() + SETTLE_MS;
    const over = AbortSignal.any([stopping.atOnce, this.#broken.signal]);
    for (;;) {
      const counted = await observer.count(end);
      const settled = counted.complete && counted.waiting === 0;
      if (settled || over.aborted || clock.monotonic() > deadline) return counted;
      await sleep(clock, LOOK_MS, over);
    }
  }

  async #watch(): Promise<void> {
    const { clock, observer, tell, show } = this.deps;
    let blindSince: number | null = null;
    for (; !this.#over.signal.aborted; await sleep(clock, LOOK_MS, this.#over.signal)) {
      const begunAt = clock.monotonic();
      let tally: Tally | null;
      try {
        this.#look = await observer.look();
        tally = begunAt < this.#statusAt ? null : await observer.count();
      } catch (error) {
        if (blindSince === null) tell('note', `The stores do not answer: ${String(error)}`);
        blindSince ??= begunAt;
        if (begunAt - blindSince < BLIND_MS) continue;
        throw new Error(`The stores have not answered for ${span(BLIND_MS)}: ${String(error)}`, { cause: error });
      }
      blindSince = null;
      for (const event of this.#events.follow(this.#look)) tell(...event);
      this.#tally = tally ?? this.#tally;
      show?.([...this.#page, ...table(this.#pods.all(), this.#look, this.#tally)]);
      if (tally === null) continue;
      this.#statusAt = clock.monotonic() + Math.max(STATUS_MS, STATUS_SHARE * (clock.monotonic() - begunAt));
      if (!show) for (const line of table(this.#pods.all(), this.#look, tally)) tell('status', line);
    }
  }

  #chaos(endsAt: number, signal: AbortSignal): Promise<void> {
    const { clock, seed, tell } = this.deps;
    const isBusy = ({ name }: Pod) => Object.values(workOf(name, this.#look)).some(({ length }) => length > 0);
    const onStrike = ({ kind, victim: { name }, holdMs }: Strike) => {
      this.#hits[kind] += 1;
      this.#hit(name, kind === 'kill' ? `killed ${name}` : `froze ${name} for ${span(holdMs)}`);
      this.#pods.signal(name, kind === 'kill' ? 'SIGKILL' : 'SIGSTOP');
    };
    const onThaw = ({ victim: { name } }: Strike) => {
      this.#pods.signal(name, 'SIGCONT');
      tell('chaos', `woke ${name} up`);
    };
    return stageFaults({ clock, seed, pods: () => this.#pods.all(), isBusy, onStrike, onThaw, endsAt }, signal);
  }

  #hit(pod: string, what: string): void {
    this.deps.tell(...this.#events.hit(pod, what, this.deps.clock.now()));
  }
}
