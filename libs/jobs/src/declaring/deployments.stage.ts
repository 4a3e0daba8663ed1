import { ManualClock } from '@fencepost/lease/testing';
import type { CatalogEntry, Declaration } from '@fencepost/ledger/catalog';
import { MemoryCatalog } from '@fencepost/ledger/memory';
import { podCard } from '../../../../test/contracts/pod-registry.contract.js';
import { flaky, type Flaky } from '../../../../test/support/flaky.js';
import { recordedEvents, type RecordedEvents } from '../../../../test/support/recorded.js';
import { MemoryPodRegistry } from '../pods/memory-pod-registry.js';
import { REPORT_MS } from '../pods/pod-registry.js';
import { Telemetry } from '../telemetry/telemetry.js';
import { Declarer, type DeclarerOptions } from './declarer.js';
import { SETTLE_MS } from './standing.js';

export const REMOVE_AFTER_MS = 300_000;
const FORMAT = 4;

export function cron(name: string, expression = '0 3 * * *'): Declaration {
  const policies = { misfire: 'fire-once', overlap: 'skip', graceMs: 60_000, catchUpWindowMs: null } as const;
  return { definition: { name, expression, timeZone: 'UTC', ...policies }, disabled: false };
}

/** The crons of a program: a name, or a name and its expression. */
export type Program = Readonly<Record<string, string>>;

interface PodOptions {
  readonly app?: string;
  readonly explicit?: number;
  readonly code?: string;
}

/** A worker process, as far as its declarations go. */
export class StagedPod {
  readonly catalog: Flaky<MemoryCatalog>;
  readonly registry: Flaky<MemoryPodRegistry>;
  readonly events: RecordedEvents;
  readonly #telemetry = new Telemetry();
  #declarer: Declarer | null = null;
  #change: number | null = null;
  #startedAt = 0;
  #isAlive = false;

  constructor(
    private readonly stage: DeploymentStage,
    readonly name: string,
    private readonly options: DeclarerOptions & { readonly code: string | undefined },
  ) {
    this.catalog = flaky(stage.catalog);
    this.registry = flaky(stage.registry);
    this.events = recordedEvents(this.#telemetry);
  }

  get declarer(): Declarer {
    if (!this.#declarer) throw new Error('Expected the pod to have been started.');
    return this.#declarer;
  }

  async start(): Promise<void> {
    const membership = { lowestFormat: async () => ({ format: this.stage.lowestFormat, process: null }) };
    const ports = { catalog: this.catalog.port, registry: this.registry.port, clock: this.stage.clock };
    const all = { ...ports, membership, telemetry: this.#telemetry, random: Math.random };
    this.#declarer = await Declarer.enrol(all, { ...this.options, change: () => this.#change });
    [this.#isAlive, this.#startedAt] = [true, this.stage.clock.now()];
    await this.report();
    await this.declarer.declare();
  }

  async report(): Promise<void> {
    const { app, code } = this.options;
    const { revision } = this.declarer;
    const handlers = [...this.options.declarations.keys()];
    const card = podCard({ pod: this.name, app, revision, handlers, startedAt: this.#startedAt });
    const { change } = await this.registry.port.report({ ...card, ...(code === undefined ? {} : { code }) });
    this.#change = change;
  }

  /** What the pod does every few seconds; a store that is away is left for the next time. */
  async tick(): Promise<void> {
    if (!this.#isAlive) return;
    await this.report().catch(() => {});
    await this.declarer.repeat().catch(() => {});
  }

  kill(): void {
    this.#isAlive = false;
  }

  async leave(): Promise<void> {
    this.kill();
    await this.stage.registry.leave(this.name);
  }

  /** Cut off from both stores, as by a partition of its network. */
  cutOff(): void {
    this.catalog.down();
    this.registry.down();
  }

  heal(): void {
    this.catalog.heal();
    this.registry.heal();
  }
}

/** Pods of any programs beside one catalog and one registry, under one clock. */
export class DeploymentStage {
  readonly clock = new ManualClock();
  readonly catalog = new MemoryCatalog(this.clock);
  readonly registry = new MemoryPodRegistry(this.clock);
  lowestFormat = FORMAT;
  heardVersion: number | null = null;
  readonly #pods: StagedPod[] = [];

  /** Not started yet. */
  pod(program: Program, { app = 'shop', explicit, code }: PodOptions = {}): StagedPod {
    const name = `pod-${String(this.#pods.length + 1).padStart(3, '0')}`;
    const declarations = new Map(Object.entries(program).map(([cronName, text]) => [cronName, cron(cronName, text)]));
    const pod = new StagedPod(this, name, {
      ...{ pod: name, app, explicit: explicit ?? null, declarations, code },
      timing: { settleMs: SETTLE_MS, removeAfterMs: REMOVE_AFTER_MS },
      change: () => null,
      lowest: () => this.lowestFormat,
      catalogVersion: () => this.heardVersion,
    });
    this.#pods.push(pod);
    return pod;
  }

  async start(program: Program, options: PodOptions = {}): Promise<StagedPod> {
    const pod = this.pod(program, options);
    await pod.start();
    return pod;
  }

  /** Time passes for every pod. */
  async pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= REPORT_MS) {
      await this.clock.advance(Math.min(left, REPORT_MS));
      for (const pod of this.#pods) await pod.tick();
    }
  }

  async entry(name: string): Promise<CatalogEntry> {
    const { entries } = await this.catalog.read([name]);
    const [entry] = entries;
    if (!entry) throw new Error(`Expected the catalog to have "${name}".`);
    return entry;
  }

  /** The expression of each cron that fires. */
  async inForce(): Promise<Record<string, string>> {
    const { entries } = await this.catalog.read();
    const active = entries.filter(({ state }) => state === 'active');
    return Object.fromEntries(active.map(({ definition }) => [definition.name, definition.expression]));
  }
}
