import type { Catalog, CatalogEntry } from '@fencepost/ledger/catalog';
import type { MemoryCatalog } from '@fencepost/ledger/memory';
import type { Telemetry } from '@fencepost/jobs';
import type { Cadence } from './cadence.js';
import type { Berth, Fleet } from './fleet.js';
import type { Network } from './network.js';
import { ChangeLedger, TAKEN } from './rules/changes.js';
import {
  checkDefinitions,
  checkRemoval,
  checkReversal,
  checkTakeover,
  hashesOf,
  patienceOf,
  type DeploymentView,
  type KnownPod,
  type Patience,
} from './rules/deployments.js';
import type { SimProcess } from './sim-process.js';
import { SimWorker } from './sim-worker.js';
import type { VirtualClock } from './virtual-clock.js';
import { declarations } from './workload.js';

export interface DeploymentWatchDeps {
  readonly world: VirtualClock;
  readonly cadence: Cadence;
  readonly catalog: MemoryCatalog;
  readonly fleet: Pick<Fleet, 'berths'>;
  readonly network: Pick<Network, 'isDisturbed' | 'isUp'>;
}

/** So many looks at pods come with one at the catalog. */
const READS_EVERY = 10;

/**
 * Holds the catalog against the pods that are alive, from outside: who declares what, since when it could have been heard, and
 * whether each change of a definition is told.
 */
export class DeploymentWatch {
  readonly #pods = new Map<string, KnownPod>();
  readonly #changes: ChangeLedger;
  readonly #patience: Patience;
  readonly #lost = { catalog: -Infinity, registry: -Infinity };
  #looks = 0;
  #writer: SimProcess | null = null;
  #violation: Error | null = null;

  constructor(private readonly deps: DeploymentWatchDeps) {
    this.#patience = patienceOf(deps.cadence);
    this.#changes = new ChangeLedger(this.#patience.declareMs);
  }

  /** The first thing that was broken. */
  get violation(): Error | null {
    return this.#violation;
  }

  /** Changes of definitions that no pod told of, though it could have. */
  get silentChanges(): number {
    return this.#changes.silent.length;
  }

  /** Changes whose pod died before it could tell. */
  get untold(): number {
    return this.#changes.untold;
  }

  get silent(): readonly string[] {
    return this.#changes.silent;
  }

  start(): void {
    void this.deps.catalog.watch(() => this.#onChanged());
    this.#again();
  }

  /** The catalog for the process that is in this place, noted as the one that writes. */
  over(berth: Berth): Catalog {
    return new Proxy(this.deps.catalog, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== 'function') return value;
        const { process } = berth;
        return (...args: unknown[]) => {
          // One that ends a moment later was there all the same.
          if (berth.process === process && berth.inside instanceof SimWorker) this.#note(berth, berth.inside);
          // Its work is done before it returns, and whoever watches is told meanwhile.
          this.#writer = process;
          const reply: unknown = Reflect.apply(value, target, args);
          this.#writer = null;
          return reply;
        };
      },
    });
  }

  attend(telemetry: Telemetry): void {
    telemetry.listen((event, detail) => this.#changes.heard(event, detail));
  }

  onLost(store: 'catalog' | 'registry'): void {
    this.#lost[store] = this.deps.world.monotonic();
    if (store === 'catalog') void this.#read().then((entries) => this.#changes.rebase(entries));
  }

  #again(): void {
    this.deps.world.after(this.#patience.lookMs, () => {
      this.#look();
      this.#again();
    });
  }

  #look(): void {
    for (const pod of this.#pods.values()) if (!this.#isThere(pod)) this.#noteGone(pod);
    for (const berth of this.deps.fleet.berths) if (berth.inside instanceof SimWorker) this.#note(berth, berth.inside);
    const now = this.deps.world.monotonic();
    this.#looks += 1;
    if (this.#looks % READS_EVERY !== 0) return;
    void this.#read().then((entries) => this.#demand(() => checkDefinitions({ ...this.#view(now), entries })));
    this.#changes.judge(now, (process) => this.#isHealthy(process));
  }

  #view(now: number): Omit<DeploymentView, 'entries'> {
    return {
      now,
      epochMs: this.deps.world.now(),
      pods: [...this.#pods.values()],
      lost: { ...this.#lost },
      patience: this.#patience,
    };
  }

  #note({ process, vacant }: Berth, worker: SimWorker): void {
    if (vacant) return;
    const now = this.deps.world.monotonic();
    const pod = this.#pods.get(process.name) ?? {
      ...{ name: process.name, app: worker.program.app, declared: hashesOf(declarations(worker.program)) },
      ...{ revision: null, healthySince: null, reachedAt: -Infinity },
      ...{ heardSince: 0, heardAt: -Infinity },
    };
    this.#pods.set(process.name, pod);
    pod.revision = worker.revision;
    const isHealthy = worker.isReady && this.#isHealthy(process);
    pod.healthySince = isHealthy ? (pod.healthySince ?? now) : null;
    const isHeard = worker.isReporting && process.runs && !this.deps.network.isDisturbed(process, 'registry');
    if (isHeard) this.#noteHeard(pod);
    if (process.runs && this.deps.network.isUp(process, 'registry')) pod.reachedAt = now;
  }

  #noteHeard(pod: KnownPod): void {
    const now = this.deps.world.monotonic();
    if (now - pod.heardAt > 2 * this.#patience.lookMs) pod.heardSince = now;
    pod.heardAt = now;
  }

  #noteGone(pod: KnownPod): void {
    const { removeAfterMs, removedMs } = this.#patience;
    pod.healthySince = null;
    // No rule looks further back.
    if (this.deps.world.monotonic() - pod.reachedAt > removeAfterMs + 2 * removedMs) this.#pods.delete(pod.name);
  }

  #isThere({ name }: KnownPod): boolean {
    return this.deps.fleet.berths.some(({ process, vacant }) => process.name === name && !vacant);
  }

  #isHealthy(process: SimProcess): boolean {
    const { network } = this.deps;
    return process.runs && !network.isDisturbed(process, 'catalog') && !network.isDisturbed(process, 'registry');
  }

  #onChanged(): void {
    const [writer, now] = [this.#writer, this.deps.world.monotonic()];
    // What it reads it has read before it returns.
    void this.#read().then((entries) => {
      for (const entry of this.#changes.changed(entries, { writer, now })) {
        this.#demand(() => checkOf(entry)(this.#view(now), entry));
      }
    });
  }

  async #read(): Promise<readonly CatalogEntry[]> {
    return (await this.deps.catalog.read()).entries;
  }

  #demand(act: () => void): void {
    try {
      act();
    } catch (error) {
      this.#violation ??= error as Error;
    }
  }
}

function checkOf({ state, reason }: CatalogEntry): typeof checkRemoval {
  if (state === 'removed') return checkRemoval;
  return reason === TAKEN ? checkTakeover : checkReversal;
}
