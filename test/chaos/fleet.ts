import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { systemClock } from '@fencepost/lease';
import { sleep } from '@fencepost/lease/internal';
import { Pod } from '../support/pod.js';
import type { Herd, Hold, Victim, VictimOrder } from './faults/victim.js';
import { isFormerTurn } from './former-turns.js';
import { orderlyEnd } from './orderly-end.js';
import { FIRST, type Program } from './programs.js';

export type PodRole = 'scheduler' | 'worker';

export interface FleetOptions {
  /** Where each pod's orders are laid. */
  readonly folder: string;
  readonly size?: Readonly<Record<PodRole, number>>;
  /** Of a pod of this name and program; the name stays the same when another process takes its place. */
  readonly env: (pod: PlannedPod) => Readonly<Record<string, string>>;
  /** A folder with the pods of the format before, which take turns with those of this one. */
  readonly former?: string;
}

export interface PlannedPod {
  readonly name: string;
  readonly role: PodRole;
  /** Whether it is of the format before. */
  readonly isFormer: boolean;
  /** Of a worker. */
  readonly program: Program;
}

/** How a pod ended that nobody had hurt. */
export interface Fallen {
  readonly name: string;
  readonly how: string;
}

interface Place {
  readonly name: string;
  readonly role: PodRole;
  program: Program;
  launches: number;
  /** Whether nothing is started there for the time being. */
  isDown: boolean;
  isFormer: boolean;
  pod?: Pod;
  up: boolean;
  held: boolean;
  hurt: boolean;
  /** By the process before. */
  said: string;
}

const PROGRAMS = { scheduler: 'test/dist/bundle/scheduler.js', worker: 'test/dist/bundle/worker.js' } as const;
const PRELOADED = ['test/dist/bundle/recorder.js', 'test/dist/pods/nemesis-hook.js'];
const SIZE = { scheduler: 3, worker: 3 } as const;
const ROOT = new URL('../../', import.meta.url);
const AGAIN_AFTER_MS = 50;
/** One that can't start, because what it needs is away, is not started over and over. */
const FAILED_AGAIN_AFTER_MS = 1_000;
const LOOK_MS = 20;
/** Generous, because only a run that fails waits for so long. */
const PATIENCE_MS = 90_000;

/** The processes of a stage. Each that ends is followed by another at once, until all are stopped. */
export class Fleet implements Herd {
  readonly #places: Place[];
  readonly #stopping = new AbortController();
  readonly #kept: Promise<void>[] = [];
  readonly #fallen: Fallen[] = [];
  readonly #said = new Map<string, number>();
  #formerLaunches = 0;
  #deployed = FIRST;

  constructor(private readonly options: FleetOptions) {
    const { folder, size = SIZE } = options;
    mkdirSync(folder, { recursive: true });
    this.#places = placesOf(size);
  }

  /** Those that ended by themselves once they were up, which nothing that is done to them excuses. */
  get fallen(): readonly Fallen[] {
    return this.#fallen;
  }

  /** What the workers are started from. */
  get deployed(): Program {
    return this.#deployed;
  }

  /** How many of the processes started were of the format before. */
  get formerLaunches(): number {
    return this.#formerLaunches;
  }

  /** How often the pods that have ended said of an event that it happened. */
  said(event: string): number {
    return this.#said.get(event) ?? 0;
  }

  get launches(): number {
    return this.#places.reduce((sum, { launches }) => sum + launches, 0);
  }

  /** Starts all, and resolves when all of them are up. */
  async start(signal?: AbortSignal): Promise<void> {
    for (const place of this.#places) this.#kept.push(this.#keep(place));
    await this.untilUp(signal);
  }

  /**
   * Until every pod works; what is held down by a fault has to be let go before.
   * @throws after a minute and a half, with what one that doesn't work said last
   */
  async untilUp(signal: AbortSignal = this.#stopping.signal): Promise<void> {
    const deadline = performance.now() + PATIENCE_MS;
    while (!signal.aborted) {
      const down = this.#places.find(({ up }) => !up);
      if (!down) return;
      if (performance.now() > deadline) throw new Error(`Expected ${down.name} to be up.\n${this.#lastWords(down)}`);
      await sleep(systemClock, LOOK_MS, signal);
    }
  }

  up(): readonly Victim[] {
    return this.#places.filter(({ up, held }) => up && !held).map((place) => this.#victim(place));
  }

  seize({ name }: Victim): Hold {
    const place = this.#places.find((one) => one.name === name);
    if (!place) throw new Error(`Expected the name of a pod of this fleet, got ${name}.`);
    place.held = true;
    return { release: () => void (place.held = false) };
  }

  /** Replaces the workers one after the other by those of another program, as a deployment does. */
  async deploy(program: Program, signal: AbortSignal): Promise<boolean> {
    this.#deployed = program;
    let replaced = 0;
    for (const place of this.#workers) {
      await this.#free(place, signal);
      if (signal.aborted) break;
      place.program = program;
      await this.#replace(place, signal);
      replaced += 1;
    }
    return replaced > 0;
  }

  /** Ends some of the workers, or all of them, at once. @returns what starts them again, and says whether any had ended */
  async scaleDown(luck: number, signal: AbortSignal): Promise<() => boolean> {
    const places = this.#workers.filter(({ up, held }) => up && !held);
    const some = places.slice(0, Math.ceil(luck * (places.length + 1)));
    for (const place of some) place.held = place.hurt = place.isDown = true;
    await Promise.all(some.map(async ({ pod }) => pod && orderlyEnd(pod)));
    return () => {
      for (const place of some) {
        [place.isDown, place.held] = [false, false];
        place.program = this.#deployed;
      }
      return some.length > 0 && !signal.aborted;
    };
  }

  get #workers(): readonly Place[] {
    return this.#places.filter(({ role }) => role === 'worker');
  }

  /** No pod stops its own event loop any more. */
  calm(): void {
    for (const place of this.#places) this.#order(place, { do: 'calm' });
  }

  /** SIGTERM for all; says which did not end in order. */
  async stop(): Promise<readonly string[]> {
    this.#stopping.abort();
    const pods = this.#places.flatMap(({ pod }) => (pod?.isAlive ? [pod] : []));
    const ended = await Promise.all(pods.map((pod) => orderlyEnd(pod)));
    await Promise.all(this.#kept);
    return ended.flatMap((complaint) => complaint ?? []);
  }

  #lastWords({ pod, said }: Place): string {
    return `${said}\n${pod?.lastLines() ?? ''}`;
  }

  async #replace(place: Place, signal: AbortSignal): Promise<void> {
    const { pod } = place;
    place.held = true;
    place.hurt = true;
    if (pod) await orderlyEnd(pod);
    while (!signal.aborted && (place.pod === pod || !place.up)) await sleep(systemClock, LOOK_MS, signal);
    place.held = false;
  }

  async #free(place: Place, signal: AbortSignal): Promise<void> {
    while (!signal.aborted && (place.held || !place.up)) await sleep(systemClock, LOOK_MS, signal);
  }

  async #keep(place: Place): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      while (place.isDown && !signal.aborted) await sleep(systemClock, LOOK_MS, signal);
      if (signal.aborted) break;
      const pod = this.#launch(place);
      place.up = await pod.ready(PATIENCE_MS).then(
        () => true,
        () => false,
      );
      // It is there and says nothing: another one may have more luck.
      if (!place.up) await pod.kill();
      const wasUp = place.up;
      const { code, signal: by } = await pod.exited;
      place.up = false;
      place.said = pod.lastLines();
      for (const { event } of pod.lines) if (event !== undefined) this.#said.set(event, this.said(event) + 1);
      writeFileSync(join(this.options.folder, `${pod.name}.log`), pod.allLines());
      const isOrderly = place.hurt || signal.aborted || !wasUp;
      if (!isOrderly) this.#fallen.push({ name: pod.name, how: `${by ?? code}\n${pod.lastLines()}` });
      await sleep(systemClock, wasUp ? AGAIN_AFTER_MS : FAILED_AGAIN_AFTER_MS, signal);
    }
  }

  #launch(place: Place): Pod {
    const { folder, env, former } = this.options;
    place.isFormer = former !== undefined && isFormerTurn(this.launches);
    if (place.isFormer) this.#formerLaunches += 1;
    const root = place.isFormer && former !== undefined ? pathToFileURL(`${former}/`) : ROOT;
    place.launches += 1;
    place.hurt = false;
    const name = `${place.name}-${place.launches}`;
    rmSync(ordersOf(folder, place), { force: true });
    place.pod = new Pod({
      name,
      args: [
        ...PRELOADED.flatMap((file) => ['--import', new URL(file, root).href]),
        fileURLToPath(new URL(PROGRAMS[place.role], root)),
      ],
      env: {
        ...{ POD_NAME: name, PORT: '0', LOG_LEVEL: 'info' },
        ...{ NEMESIS_ORDERS: ordersOf(folder, place) },
        ...env(place),
      },
    });
    return place.pod;
  }

  #victim(place: Place): Victim {
    const pod = place.pod!;
    const hit = `${ordersOf(this.options.folder, place)}.hit`;
    return {
      ...{ name: place.name, role: place.role, gone: pod.exited, hit },
      send: (signal) => {
        place.hurt ||= signal === 'SIGKILL' || signal === 'SIGTERM';
        pod.send(signal);
      },
      order: async (order) => this.#order(place, order),
      followed: async (ending) => {
        while (!ending.aborted && place.pod === pod && pod.isAlive) await sleep(systemClock, LOOK_MS, ending);
        while (!ending.aborted && !place.up) await sleep(systemClock, LOOK_MS, ending);
      },
    };
  }

  #order(place: Place, order: VictimOrder): void {
    if (!place.up) return;
    place.hurt ||= order.do === 'arm' && order.point?.action === 'kill';
    const file = ordersOf(this.options.folder, place);
    // One that is late with the order before reads whenever it comes to it, and must find a whole one.
    writeFileSync(`${file}.new`, JSON.stringify(order));
    renameSync(`${file}.new`, file);
    place.pod?.send('SIGWINCH');
  }
}

/** Of a fleet of this size. */
export function podNames(size: Readonly<Record<PodRole, number>>): string[] {
  return placesOf(size).map(({ name }) => name);
}

function placesOf(size: Readonly<Record<PodRole, number>>): Place[] {
  return (['scheduler', 'worker'] as const).flatMap((role) =>
    Array.from({ length: size[role] }, (_, n) => placeOf(role, n + 1)),
  );
}

function placeOf(role: PodRole, n: number): Place {
  return {
    ...{ role, name: `${role[0]}${n}`, program: FIRST, launches: 0, isFormer: false, isDown: false },
    ...{ up: false, held: false, hurt: false, said: '' },
  };
}

function ordersOf(folder: string, { name }: Place): string {
  return join(folder, `${name}.orders`);
}
