import { LeaseKeeper } from '@fencepost/lease/internal';
import type { MemoryLeaseStore } from '@fencepost/lease/testing';
import type { MemoryCatalog, MemoryLedger } from '@fencepost/ledger/memory';
import { Telemetry } from '@fencepost/jobs';
import type { Membership, QueuedDelivery, RunQueue } from '@fencepost/jobs/internal';
import { SchedulerPod } from '@fencepost/jobs/internal/scheduling';
import { SimProcess } from '../simulation/sim-process.js';
import type { VirtualClock } from '../simulation/virtual-clock.js';
import { OTHER_COMMANDS, OTHER_US, type Costs } from './costs.js';
import type { SparseMembership } from './sparse-membership.js';
import { costed, type Cost, type StoreServer } from './store-server.js';

const TTL_MS = 10_000;
const SWEEP_EVERY_MS = 5_000;
const LOOK_AGAIN_MS = 10_000;
const RUN_LEASE_MS = 30_000;
/** A reader's first look goes so many signs of life of each pod back. */
const REMEMBERED = 4;
/** Crons that one EXISTS asks about. */
const OPEN_RUNS_PER_COMMAND = 1_000;
/** Crons on a page of the catalog, and the commands inside the script that reads it. */
const CHANGES_PER_PAGE = 250;
const PAGE_COMMANDS = 6;

export interface PlayedStores {
  readonly leases: MemoryLeaseStore;
  readonly catalog: MemoryCatalog & { readonly size: number };
  readonly membership: SparseMembership;
  readonly ledger: MemoryLedger;
}

export interface PlayedPodDeps {
  readonly name: string;
  readonly clock: VirtualClock;
  readonly server: StoreServer;
  readonly stores: PlayedStores;
  readonly costs: Costs;
  readonly random: () => number;
  /** Schedules that a played cron stands for, and instants that one instant stands for. */
  readonly weightOf: (cron: string) => number;
  readonly unit: number;
  readonly schedules: number;
  readonly onEvent: (name: 'lease.acquired' | 'lease.released' | 'lease.lost', cron: string) => void;
}

/** A scheduler pod as it is, with stores whose calls cost what they cost with all schedules. */
export class PlayedPod {
  readonly process: SimProcess;
  readonly #pod: SchedulerPod;
  /** Crons whose due time has not been published in this term. */
  readonly #fresh = new Set<string>();
  #members = '';
  /** Signs of life that it has read. */
  #entries = 0;
  isReady = false;

  constructor(private readonly deps: PlayedPodDeps) {
    const { name, clock, stores, random } = deps;
    this.process = new SimProcess(clock, { name, rate: 1, aheadMs: 0 });
    const { leases, ledger, catalog, membership } = stores;
    let terms = 0;
    const own = { clock: this.process.clock, holder: name, newNonce: () => `${name}#${(terms += 1)}` };
    const leasesHere = this.#port(leases);
    this.#pod = new SchedulerPod({
      ...{ ledger: this.#port(ledger), catalog: this.#port(catalog), leases: leasesHere, queue: this.#queue() },
      ...{ membership: this.#thoughtful(this.#port<Membership>(membership)), telemetry: this.#telemetry(), random },
      ...{ keeper: new LeaseKeeper({ store: leasesHere, ...own }), clock: this.process.clock },
      ...{ ttlMs: TTL_MS, sweepEveryMs: SWEEP_EVERY_MS, lookAgainMs: LOOK_AGAIN_MS, keepRuns: 1 },
    });
  }

  start(): void {
    void this.#pod.start().then(() => (this.isReady = true));
  }

  stop(): Promise<void> {
    return this.#pod.stop().then(() => this.process.crash());
  }

  kill(): void {
    this.process.crash();
  }

  get held(): number {
    return this.#pod.engine.size;
  }

  heldNames(): string[] {
    return this.#pod.engine.heldNames();
  }

  #port<T extends object>(target: T): T {
    return costed(target, {
      ...{ process: this.process, server: this.deps.server },
      costOf: (method, args) => this.#costOf(method, args),
    });
  }

  #costOf(method: string, args: readonly unknown[]): Cost {
    const { costs, unit } = this.deps;
    const about = [args.at(-1), args[0]].find(Array.isArray) ?? [];
    const times = (count: number, us: number, commands: number) => ({ us: count * us, commands: count * commands });
    const each = (us: number, commands: number) => times(this.#schedulesOf(about), us, commands);
    switch (method) {
      case 'beat':
        return { us: costs.beatUs, commands: costs.beatCommands };
      case 'heartbeat':
        return { us: costs.heartbeatUs + this.#entriesUs(), commands: costs.heartbeatCommands };
      case 'members':
        return { us: costs.membersUs + this.#entriesUs(), commands: costs.membersCommands };
      case 'open':
      case 'close':
      case 'closeOf':
        return { us: costs.sessionUs, commands: costs.sessionCommands };
      case 'renew':
        // Of a session, or of as many terms.
        if (!Array.isArray(args[0])) return { us: costs.sessionUs, commands: costs.sessionCommands };
        return each(costs.renewUs, 2);
      case 'acquire':
      case 'acquireMany':
        return each(costs.acquireUs, costs.acquireCommands);
      case 'release':
        return each(costs.releaseUs, 2);
      case 'inspect':
        // Only of the overdue, of which a pod is told a thousand at most, however many schedules there are.
        return times(about.length, costs.readCronUs, 1);
      case 'readCrons':
        return each(costs.readCronUs, 1);
      case 'claimAll':
        return times(about.length * unit, costs.claimUs, costs.instantCommands / 3);
      case 'confirm':
        return times(about.length * unit, costs.confirmUs, costs.instantCommands / 3);
      case 'publishDue':
        return this.#publishing(args[0] as ReadonlyMap<string, unknown>);
      case 'withPending':
        return each(costs.openRunsUs, 1);
      case 'withOpenRuns':
        return each(costs.openRunsUs, 1 / OPEN_RUNS_PER_COMMAND);
      case 'since':
        // Without changes after a version, and with a page of the catalog.
        return args[0] === null ? this.#page() : OTHER;
      default:
        return OTHER;
    }
  }

  /** Of calls about crons or their terms. */
  #schedulesOf(about: readonly (string | { readonly resource: string })[]): number {
    const { weightOf } = this.deps;
    return about.reduce((sum, one) => sum + weightOf(typeof one === 'string' ? one : one.resource), 0);
  }

  #entriesUs(): number {
    const { stores, costs } = this.deps;
    const unread = Math.min(stores.membership.entries - this.#entries, REMEMBERED * stores.membership.size);
    this.#entries = stores.membership.entries;
    return unread * costs.entryUs;
  }

  /** A page of played crons stands for as many pages of schedules, one after the other. */
  #page(): Cost {
    const { costs, schedules, stores } = this.deps;
    const crons = Math.min(schedules, (schedules / stores.catalog.size) * CHANGES_PER_PAGE);
    return { us: crons * costs.catalogUs, commands: (crons / CHANGES_PER_PAGE) * PAGE_COMMANDS };
  }

  #publishing(dues: ReadonlyMap<string, unknown>): Cost {
    const { costs, weightOf, unit } = this.deps;
    const timesOf = (cron: string) => (this.#fresh.delete(cron) ? weightOf(cron) : unit);
    const instants = [...dues.keys()].reduce((sum, cron) => sum + timesOf(cron), 0);
    return { us: instants * costs.publishUs, commands: Math.max(1, instants / 1_000) };
  }

  /** With another list of members each pod assigns all crons again, and that takes it a moment. */
  #thoughtful(membership: Membership): Membership {
    const { schedules, costs } = this.deps;
    const heartbeat = async (...args: Parameters<Membership['heartbeat']>) => {
      const reply = await membership.heartbeat(...args);
      const names = reply.members.map((member) => member.pod).join();
      const pairs = schedules * reply.members.length;
      if (names !== this.#members) await this.#wait((pairs * costs.assignNsPerPair) / 1e6);
      this.#members = names;
      return reply;
    };
    return new Proxy(membership, {
      get: (target, name) => (name === 'heartbeat' ? heartbeat : (Reflect.get(target, name, target) as unknown)),
    });
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => this.process.clock.after(ms, resolve));
  }

  /** A worker that is always free. */
  #queue(): RunQueue {
    const { ledger } = this.deps.stores;
    const { server, costs, unit } = this.deps;
    let attempts = 0;
    return {
      holds: async (deliveries) => deliveries.map(() => null),
      enqueue: async (deliveries: readonly QueuedDelivery[]) => {
        const us = deliveries.length * unit * costs.enqueueUs;
        await new Promise<void>((resolve) => server.serve({ us, commands: deliveries.length * unit * 2 }, resolve));
        for (const { runId } of deliveries) {
          const nonce = `${this.process.name}@${(attempts += 1)}`;
          const asked = { runId, nonce, worker: 'worker', ttlMs: RUN_LEASE_MS, maxAttempts: 1 };
          const begun = await ledger.begin(asked);
          if (begun.verdict === 'begun')
            await ledger.finish({ runId, fence: begun.fence, nonce }, { kind: 'succeeded' });
        }
      },
    };
  }

  #telemetry(): Telemetry {
    const telemetry = new Telemetry();
    const { onEvent } = this.deps;
    telemetry.listen((name, detail) => {
      if (name !== 'lease.acquired' && name !== 'lease.released' && name !== 'lease.lost') return;
      const { cron } = detail as { readonly cron: string };
      if (name === 'lease.acquired') this.#fresh.add(cron);
      onEvent(name, cron);
    });
    return telemetry;
  }
}

const OTHER: Cost = { us: OTHER_US, commands: OTHER_COMMANDS };
