import type { Clock } from '@fencepost/lease';
import { sleep } from '@fencepost/lease/internal';
import { Aftermath } from './aftermath.js';
import type { Audience } from './audience.js';
import { Chaos } from './chaos.js';
import { closing, type Closing } from './closing.js';
import type { Happening } from './happening.js';
import type { Observer } from './observer.js';
import type { DemoOptions } from './options.js';
import { SCHEDULERS, WORKERS, type Pod } from './pod.js';
import { Pods } from './pods.js';
import { sceneOf } from './scene.js';
import { seededRandom } from './seeded-random.js';
import type { Stopping } from './stopping.js';
import { statusLine, type Phase } from './status-line.js';
import { Story } from './story.js';
import { tally } from './tally.js';
import { Watch } from './watch.js';
import { span } from './words.js';

export interface DemoDeps {
  readonly options: DemoOptions;
  readonly seed: number;
  readonly clock: Clock;
  readonly stopping: Stopping;
  readonly observer: Observer;
  readonly audience: Audience;
  /** For the heading. */
  readonly redis: string;
  readonly access: string;
  readonly logs: string;
  readonly podEnv: Readonly<Record<string, string>>;
}

/** What is still on its way when the time is up gets this long to come to its end. */
const SETTLE_MS = 20_000;
const STOP_MS = 8_000;
const LOOK_MS = 100;

/** Starts the pods, watches, hurts them if asked to, lets what is on its way come to its end, counts, and stops. */
export class Demo {
  readonly #story = new Story();
  readonly #aftermath = new Aftermath();
  readonly #pods: Pods;
  readonly #watch: Watch;
  /** Aborts when nothing is to be looked at any more. */
  readonly #over = new AbortController();
  /** Aborts with the reason when the demo can't go on. */
  readonly #broken = new AbortController();
  #phase: Phase = 'starting';
  /** Of the observed time, on the monotonic clock. */
  #begunAt: number | null = null;
  #endedAt: number | null = null;
  #hits = { kill: 0, freeze: 0 };

  constructor(private readonly deps: DemoDeps) {
    const { clock, observer, logs: folder, podEnv: env, stopping } = deps;
    const tell = (happening: Happening) => this.#tell(happening);
    this.#watch = new Watch({ observer, clock, aftermath: this.#aftermath, tell });
    const onUp = (pod: Pod) => this.#note('pod', `${pod.name} is up, pid ${pod.pid}, http://127.0.0.1:${pod.port}`);
    const onEnded = (pod: Pod, how: string) => this.#endedByItself(pod, how);
    this.#pods = new Pods({ clock, folder, env, onUp, onEnded });
    this.#pods.gone.addEventListener('abort', () => this.#break(new Error('The supervisor of the pods is gone.')));
    stopping.atOnce.addEventListener('abort', () => void this.#pods.end());
  }

  /**
   * @returns the verdict, or `null` when it was ended before there was anything to judge
   * @throws {Error} when a pod does not start, or Redis is gone
   */
  async run(): Promise<Closing | null> {
    const watching = this.#watch.run(this.#over.signal).catch((error: unknown) => this.#break(error));
    this.#draw();
    try {
      await this.#startPods();
      // Whoever ends it while the last pod starts gets a verdict on what the others have done by then.
      const nothingYet = this.#watch.sight.crons.length === 0;
      return this.#interrupted.aborted && nothingYet ? this.#endedEarly() : await this.#observe();
    } finally {
      this.#phase = 'stopping';
      await this.#pods.stop(STOP_MS);
      this.#over.abort();
      await watching;
      this.#phase = 'ended';
      this.#show();
      this.deps.audience.close();
    }
  }

  /** Schedulers first: they then look at every cron from its first instant on. */
  async #startPods(): Promise<void> {
    for (const [role, size] of [['scheduler', SCHEDULERS] as const, ['worker', WORKERS] as const]) {
      if (this.#interrupted.aborted) return;
      for (let n = 1; n <= size; n++) await this.#pods.start(`${role}-${n}`, role);
      await this.#pods.untilAllUp(this.#interrupted);
    }
  }

  async #observe(): Promise<Closing | null> {
    const { clock, options, stopping } = this.deps;
    const begunAt = clock.monotonic();
    const lengthMs = options.seconds === null ? Infinity : options.seconds * 1_000;
    [this.#phase, this.#begunAt] = ['running', begunAt];
    const chaosEnd = new AbortController();
    const chaos = options.chaos ? this.#chaos(begunAt + lengthMs, chaosEnd.signal) : Promise.resolve();
    await sleep(clock, lengthMs, this.#interrupted);
    const end = clock.now();
    [this.#phase, this.#endedAt] = ['settling', clock.monotonic()];
    chaosEnd.abort();
    await chaos;
    await this.#settle(end);
    if (stopping.atOnce.aborted || this.#broken.signal.aborted) return this.#endedEarly();
    return this.#judge(end);
  }

  /** Whoever ends it at once takes the supervisor away too, and that is no fault then. */
  #endedEarly(): null {
    if (!this.deps.stopping.atOnce.aborted) this.#broken.signal.throwIfAborted();
    return null;
  }

  async #settle(end: number): Promise<void> {
    const { clock, observer, stopping } = this.deps;
    const deadline = clock.monotonic() + SETTLE_MS;
    const over = () => stopping.atOnce.aborted || this.#broken.signal.aborted || clock.monotonic() > deadline;
    while (!over() && tally(observer.evidence(this.#watch.sight, end)).waiting > 0) await sleep(clock, LOOK_MS);
  }

  async #judge(end: number): Promise<Closing> {
    const { observer, options, seed } = this.deps;
    const sight = await observer.lookDeeply();
    return closing(tally(observer.evidence(sight, end)), {
      seconds: Math.round(this.#ranMs() / 1_000),
      schedulers: SCHEDULERS,
      workers: WORKERS,
      kills: this.#hits.kill,
      freezes: this.#hits.freeze,
      seed: options.chaos ? seed : null,
    });
  }

  #chaos(endsAt: number, signal: AbortSignal): Promise<void> {
    const { clock, seed } = this.deps;
    const chaos = new Chaos({
      clock,
      random: seededRandom(seed),
      pods: () => this.#pods.all(),
      isBusy: ({ name }) => Aftermath.hasWork(name, this.#watch.sight, this.deps.observer.archive),
      kill: (name) => this.#pods.kill(name),
      freeze: (name) => this.#pods.freeze(name),
      thaw: () => this.#pods.thaw(),
      onStrike: ({ kind, victim, holdMs }) => {
        this.#hits[kind] += 1;
        this.#hit(victim, kind === 'kill' ? `killed ${victim.name}` : `froze ${victim.name} for ${span(holdMs)}`);
      },
      onThaw: ({ victim }) => this.#note('chaos', `woke ${victim.name} up`),
    });
    return chaos.run(endsAt, signal);
  }

  #endedByItself(pod: Pod, how: string): void {
    this.#hit(pod, `${pod.name} ended (${how}), nobody here asked it to`);
  }

  #hit({ name: pod }: Pod, what: string): void {
    const { clock, observer } = this.deps;
    this.#tell(this.#aftermath.begin({ pod, what, at: clock.now() }, this.#watch.sight, observer.archive));
  }

  get #interrupted(): AbortSignal {
    return AbortSignal.any([this.deps.stopping.inOrder, this.#broken.signal]);
  }

  #break(reason: unknown): void {
    if (this.#phase !== 'stopping') this.#broken.abort(reason);
  }

  #note(kind: Happening['kind'], text: string): void {
    const at = this.deps.clock.now();
    this.#tell({ id: `${kind}-${at}-${text}`, at, kind, text });
  }

  #tell(happening: Happening): void {
    this.#story.add(happening);
    this.deps.audience.tell(happening);
  }

  #draw(): void {
    const { audience, clock } = this.deps;
    if (audience.frameMs === null || this.#over.signal.aborted) return;
    this.#show();
    clock.after(audience.frameMs, () => this.#draw());
  }

  #show(): void {
    const { audience, clock, observer, redis, access, logs, options, seed } = this.deps;
    const { sight, tally: counted } = this.#watch;
    const seen = sceneOf({ sight, archive: observer.archive, pods: this.#pods.all(), now: clock.now() });
    const { seconds } = options;
    const status = statusLine({ phase: this.#phase, ranMs: this.#ranMs(), seconds, seed: options.chaos ? seed : null });
    audience.show({ redis, access, logs, ...seen, status, news: this.#story.newest, tally: counted });
  }

  #ranMs(): number {
    if (this.#begunAt === null) return 0;
    return (this.#endedAt ?? this.deps.clock.monotonic()) - this.#begunAt;
  }
}
