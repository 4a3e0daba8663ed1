import type { Clock, Fence, LeaseStore } from '@fencepost/lease';
import { ownerPrefix } from '@fencepost/lease/internal';
import type { Holding } from '@fencepost/lease/store';
import type { Catalog, CronDefinition } from '@fencepost/ledger/catalog';
import { OperatorInputError, type OccurrenceLog, type RunHistory } from '@fencepost/ledger';
import type { AuditTrail } from '@fencepost/ledger/audit-trail';
import { checkedText, knownCron } from '@fencepost/jobs/internal';
import type { Journal } from '../journal/journal.js';
import { DuplicateWatch, type Look, type WatchMarker, type WatchReport } from './leases-watch.js';
import { LeaseMovedError, shownLease } from './lease-moved-error.js';
import { readHolders, type HolderSign, type LivePodPorts } from './live-pods.js';
import { OwnLeases, type OwnStores } from './own-leases.js';
import { withAudit } from './with-audit.js';

export interface LeaseServicePorts extends LivePodPorts {
  readonly leases: Pick<LeaseStore, 'inspect' | 'evict'>;
  readonly own: OwnStores;
  readonly catalog: Pick<Catalog, 'read'>;
  readonly ledger: Pick<OccurrenceLog, 'readCron'> & Pick<RunHistory, 'runs'>;
  readonly journal: Pick<Journal, 'ofCron'>;
  readonly audit: Pick<AuditTrail, 'append'>;
  readonly clock: Clock;
  /** What is only looked at is read here; by default where everything else is. */
  readonly reads?: Pick<LeaseServicePorts, 'catalog' | 'pods' | 'membership' | 'own'> & {
    readonly leases: Pick<LeaseStore, 'inspect'>;
  };
  /**
   * Whether the leases of crons are in the store that pods report to: a pod that is cut off from it can't renew them, so a
   * holder that is not heard there is gone.
   */
  readonly leasesBesidePods: boolean;
}

/** One lease, as it was when it was looked at. */
export interface CronLease extends Holding, HolderSign {
  readonly cron: string;
}

export interface LeaseList {
  /** By name of the cron. */
  readonly held: readonly CronLease[];
  /** Crons that fire, or have been asked to, and that nobody holds now, the first {@link MAX_FREE} by name. */
  readonly free: readonly string[];
}

export interface LeaseFilter {
  /** Part of the cron's name. */
  readonly cron?: string | undefined;
  /** Only crons with this tag. */
  readonly tag?: string | undefined;
  /** Part of what is shown of the holder: its label and the first characters of its identity. */
  readonly holder?: string | undefined;
}

export interface ClearOrder {
  /** That of the term that was looked at: another one is not cleared. */
  readonly fence: Fence;
  readonly by: string;
  readonly role: string;
  readonly from: string;
  readonly reason: string;
}

export interface ClearedLease {
  readonly cron: string;
  readonly cleared: CronLease;
  /** Who holds it right after that, if somebody was so quick. */
  readonly next: Holding | null;
  /** Where a watch for duplicates is to begin. */
  readonly marker: WatchMarker;
}

export interface WatchOptions {
  /** Default: now. */
  readonly marker?: WatchMarker;
  /** Ends it early. */
  readonly signal?: AbortSignal;
}

/** Where more are free, no pod is there, and the names say no more than that. */
const MAX_FREE = 1_000;
/** Resources that are looked at in one call. */
const LOOKED_AT_ONCE = 500;
const MAX_WATCH_MS = 3_600_000;
const RUNS_LOOKED_AT = 100;
/**
 * Who acts for which cron, and how a person takes a lease from a holder that is dead.
 *
 * A lease is no more than a hint of who may act: what is cleared while its holder lives costs a hand-over, and what that
 * holder still claims is refused by its fence once the next one has claimed.
 */
export class LeaseService {
  /** Those of the application itself. */
  readonly own: OwnLeases;

  constructor(private readonly ports: LeaseServicePorts) {
    this.own = new OwnLeases({ ...ports, reads: ports.reads ?? ports });
  }

  /** All crons, a thousand in a call. */
  async list(filter: LeaseFilter = {}): Promise<LeaseList> {
    const { catalog, leases, ...live } = this.ports.reads ?? this.ports;
    const { entries } = await catalog.read();
    const wanted = entries.filter(({ definition }) => isWanted(definition, filter));
    const names = wanted.map(({ definition }) => definition.name);
    const holdings = await this.#inspect(names, leases);
    const signOf = await readHolders(live);
    const held = names.flatMap((cron, index) => {
      const holding = holdings[index];
      return holding ? [{ cron, ...holding, ...signOf(holding.holder, this.ports.leasesBesidePods) }] : [];
    });
    const free = wanted.filter(({ state }, index) => state === 'active' && !holdings[index]);
    const { holder } = filter;
    if (holder !== undefined) return { held: held.filter((one) => ownerPrefix(one.holder).includes(holder)), free: [] };
    return { held, free: free.slice(0, MAX_FREE).map(({ definition }) => definition.name) };
  }

  /**
   * Who holds the cron's lease, `null` for nobody.
   * @throws {UnknownCronError} for a cron that the catalog does not have and nobody holds
   */
  async look(cron: string): Promise<CronLease | null> {
    const [holding] = await this.#inspect([cron]);
    if (!holding) {
      await knownCron(this.ports.catalog, cron);
      return null;
    }
    const signOf = await readHolders(this.ports);
    return { cron, ...holding, ...signOf(holding.holder, this.ports.leasesBesidePods) };
  }

  /**
   * Ends exactly the term with this fence, whoever holds it, and leaves an audit record. Where the holder is dead, another pod
   * takes the cron at once; a living one goes on until its next renewal is refused, after a third of its ttl.
   * @throws {LeaseMovedError} when another term, or none, is there by now; nothing is changed then
   * @throws {OperatorInputError} for an order that can't be, {@link UnknownCronError} for a cron that isn't there
   */
  async clear(cron: string, order: ClearOrder): Promise<ClearedLease> {
    const { fence, role, from } = order;
    const [by, reason] = [checkedText('by', order.by), checkedText('reason', order.reason)];
    const marker = await this.#marker(cron);
    const cleared = await this.look(cron);
    if (cleared?.fence !== fence) throw new LeaseMovedError(cron, fence, cleared);
    const about = { by, role, from, reason, action: 'clear-lease', cron, runId: null };
    return withAudit(
      this.ports.audit,
      { ...about, before: shownLease(cleared), after: ({ next }: ClearedLease) => shownLease(next) },
      async () => {
        await this.#preempt(cron, fence);
        const [next = null] = await this.#inspect([cron]);
        return { cron, cleared, next, marker };
      },
    );
  }

  /**
   * Looks at a cron for a while: for two runs of one instant, for claims under a fence that is over, for runs that are begun
   * again, and for what the ledger refuses. See {@link WatchReport}.
   * @throws {OperatorInputError} for a time that is none, or over an hour
   */
  async watchDuplicates(cron: string, ms: number, { marker, signal }: WatchOptions = {}): Promise<WatchReport> {
    const { clock } = this.ports;
    const checkedFor = checkedWatch(ms);
    const watch = new DuplicateWatch(cron, marker ?? (await this.#marker(cron)));
    return watch.follow(() => this.#see(cron), checkedFor, { clock, signal });
  }

  async #preempt(cron: string, fence: Fence): Promise<void> {
    const { leases } = this.ports;
    if (!leases.evict) throw new TypeError('This lease store cannot end a term by its fence.');
    if (await leases.evict(cron, fence)) return;
    const [found = null] = await this.#inspect([cron]);
    throw new LeaseMovedError(cron, fence, found);
  }

  async #marker(cron: string): Promise<WatchMarker> {
    const { catalog, ledger } = this.ports;
    const [{ readAt }, { refusals }, runs] = await Promise.all([
      catalog.read([cron]),
      ledger.readCron(cron),
      ledger.runs(cron, RUNS_LOOKED_AT),
    ]);
    return DuplicateWatch.markerOf(readAt, { refusals, runs });
  }

  async #see(cron: string): Promise<Look> {
    const { ledger, journal } = this.ports;
    const [{ refusals }, runs, entries, [holding = null]] = await Promise.all([
      ledger.readCron(cron),
      ledger.runs(cron, RUNS_LOOKED_AT),
      journal.ofCron(cron, { limit: 100 }),
      this.#inspect([cron]),
    ]);
    return { refusals, runs, entries, holding };
  }

  async #inspect(
    crons: readonly string[],
    leases: Pick<LeaseStore, 'inspect'> = this.ports.leases,
  ): Promise<(Holding | null)[]> {
    const found: (Holding | null)[] = [];
    for (let at = 0; at < crons.length; at += LOOKED_AT_ONCE) {
      found.push(...(await leases.inspect(crons.slice(at, at + LOOKED_AT_ONCE))));
    }
    return found;
  }
}

function isWanted({ name, tags }: CronDefinition, { cron = '', tag }: LeaseFilter): boolean {
  return name.includes(cron) && (tag === undefined || tags?.includes(tag) === true);
}

function checkedWatch(ms: number): number {
  if (Number.isInteger(ms) && ms >= 0 && ms <= MAX_WATCH_MS) return ms;
  throw OperatorInputError.of('ms', `a whole number of milliseconds up to ${MAX_WATCH_MS}`, ms);
}
