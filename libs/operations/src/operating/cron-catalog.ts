import type { Clock } from '@fencepost/lease';
import {
  CatalogFullError,
  changePages,
  readChanges,
  type Catalog,
  type CatalogEntry,
  type ChangeOrder,
  type ChangeReply,
  type Declaration,
} from '@fencepost/ledger/catalog';
import { formatOf } from '@fencepost/ledger/format';
import type { AuditTrail } from '@fencepost/ledger/audit-trail';
import { OperatorInputError } from '@fencepost/ledger';
import { CatalogMovedError, checkRuntimeCron, checkedText, knownCron } from '@fencepost/jobs/internal';
import { UnknownCronError } from '@fencepost/jobs/errors';
import type { Membership, PodRegistry } from '@fencepost/jobs/internal';
import { CheckedCrons, checkedNames, type CronProblem } from './checked-crons.js';
import { changedCron, type CronChanges, type CronPreview } from './cron-changes.js';
import { ManyCrons, removing, setting, type ManyOrder, type ManyReport, type RecordPart } from './many-crons.js';
import type { CronSettings, NamedCron } from './cron-settings.js';
import { checkFormat } from './definition-format.js';
import { removabilityOf } from './declared-crons.js';
import { exportedCron } from './definition-change.js';
import { ORDER_RECORDS, type Removal } from './order-records.js';
import { inSlices } from './slices.js';
import { withOwnAudit } from './with-audit.js';

/** Of an order that came by another entrance: what it has found by itself, and where its records are written. */
export interface ManyEntrance {
  /** The place of each, where it is not that in the list. */
  readonly positions?: readonly number[];
  /** What was wrong with those that are not in the list. */
  readonly problems?: readonly CronProblem[];
  readonly record?: RecordPart;
}

/** Which crons are exported. */
export interface ExportQuery {
  /** Only crons with this tag. */
  readonly tag?: string | undefined;
}

/** Who changes a cron, and what they saw before. */
export interface CatalogOrder {
  /** The generation that is to be replaced, `null` for a cron that isn't there; default: whatever is there. */
  readonly expected?: number | null;
  readonly by: string;
  readonly reason?: string;
}

export interface CronCatalogPorts {
  readonly catalog: Pick<Catalog, 'read' | 'since' | 'put' | 'putMany' | 'remove' | 'removeMany'>;
  readonly clock: Clock;
  /** Which crons live pods declare. Without it, no cron that code has declared is removed: nothing proves that its app is gone. */
  readonly pods?: Pick<PodRegistry, 'look'> | undefined;
  /** Which format all live processes read; without it, that of this process. */
  readonly membership?: Pick<Membership, 'lowestFormat'>;
  /** Where a change is recorded that comes from neither the API nor the command line, which record their own; none by default. */
  readonly audit?: Pick<AuditTrail, 'append'>;
  /** How close two instants may be of a cron that says nothing about it itself; any distance by default. */
  readonly minIntervalMs?: number;
}

/** So many are read in one call, which holds the store up for a few milliseconds. */
const PAGE = 500;

/** Without an expected generation, a change is tried so often before somebody who is always faster is told of. */
const MAX_TRIES = 5;

/** Crons that are made, changed and removed at run time, by the same rules as those that are declared in code. */
export class CronCatalog {
  constructor(private readonly ports: CronCatalogPorts) {}

  /** By name, those that are disabled or removed as well. All of them: of many, `export` gives one after the other. */
  async list(): Promise<CatalogEntry[]> {
    const { entries } = await readChanges(this.ports.catalog, null);
    return [...entries.values()].toSorted((a, b) => (a.definition.name < b.definition.name ? -1 : 1));
  }

  async get(name: string): Promise<CatalogEntry | null> {
    const { entries } = await this.ports.catalog.read([name]);
    return entries.find(({ definition }) => definition.name === name) ?? null;
  }

  /**
   * A cron with these options and no others, as `setMany` makes it; changes nothing.
   * @throws {CronDeclarationError} for an option that can't be
   */
  check(name: string, settings: CronSettings): Declaration {
    const { expression, ...options } = settings;
    const { minIntervalMs = 0 } = this.ports;
    const written = { expression, options: { ...options, name }, minIntervalMs };
    return checkRuntimeCron('CronCatalog.set', written, this.#now());
  }

  /**
   * What `set` would make of the cron; changes nothing.
   * @throws {CronDeclarationError} for an option that can't be
   */
  async preview(name: string, changes: CronChanges): Promise<CronPreview> {
    const before = await this.get(name);
    return { before, declaration: changedCron(before, changes, (settings) => this.check(name, settings)) };
  }

  /**
   * Makes a cron, or changes the options that are named: the others stay as they are, and `null` resets one to its default. A
   * removed cron comes back with its last definition and these changes.
   * @throws {CronDeclarationError} for an option that can't be
   * @throws {OperatorInputError} for a text that a live process of an older release would not know
   * @throws {CatalogMovedError} when another generation than the expected one is there; nothing is changed
   */
  async set(name: string, changes: CronChanges, order: CatalogOrder): Promise<CatalogEntry> {
    return this.#recorded({ name, order, before: await this.get(name) }, async () => {
      const generation = await this.#change(name, order, (asked) => this.#put(name, changes, asked));
      const entry = await this.get(name);
      // Removed and deleted between the two calls.
      if (!entry) throw new CatalogMovedError(name, generation, null);
      return entry;
    });
  }

  /**
   * It stops firing; its history stays.
   * @returns which app declared it: a pod of it that declares the cron again brings it back
   * @throws {UnknownCronError} for one that isn't there, or not any more
   * @throws {DeclaredCronError} for one that a live pod declares: pause it, or remove it from the code
   * @throws {CatalogMovedError} when another generation than the expected one is there; nothing is changed
   */
  async remove(name: string, order: CatalogOrder): Promise<Removal> {
    if (await this.#isUnreadable(name)) {
      await this.#change(name, { ...order, expected: null }, (asked) => this.ports.catalog.remove(name, asked));
      return { declaredBy: null };
    }
    const { entry } = await knownCron(this.ports.catalog, name);
    if (entry.state === 'removed') throw UnknownCronError.removed(name, entry.by);
    const { refusals, declaredBy } = await removabilityOf([entry], this.ports.pods);
    for (const refusal of refusals.values()) throw refusal;
    const { by, reason = null } = order;
    const about = { by, reason, ...ORDER_RECORDS.remove, cron: name, runId: null, before: shown(entry) };
    return withOwnAudit(this.ports.audit, about, async () => {
      await this.#change(name, order, (asked) => this.ports.catalog.remove(name, asked));
      return { declaredBy: declaredBy.get(name) ?? null };
    });
  }

  /**
   * Makes many crons, or changes them, each as a whole: unlike with `set`, an option that is left out is the default. All are
   * validated first, and then written in parts with one audit record each. A cron that is as it should be is left alone, so the same order again goes on where one ended.
   * @throws {InvalidCronsError} for crons that can't be, with the place and the reason of each; nothing is written
   * @throws {OperatorInputError} for an order that can't be
   */
  async setMany(crons: Iterable<NamedCron>, order: ManyOrder, entrance: ManyEntrance = {}): Promise<ManyReport> {
    const asked = checkedMany(order);
    const wanted = (await inSlices(this.#checked(crons, entrance))).valid();
    const highest = wanted.reduce<Declaration | null>((a, { what: b }) => (a && isNoNewer(b, a) ? a : b), null);
    if (highest) await checkFormat(highest, this.ports.membership);
    const { catalog } = this.ports;
    return new ManyCrons(catalog, setting(catalog, asked), wanted).run(order, this.#recorder(asked, entrance));
  }

  /**
   * Many crons stop firing; their history stays. Those that are not there, or not any more, count as unchanged. One that a live
   * pod declares is reported as `DECLARED_CRON` and stays; the others are removed.
   * @throws {InvalidCronsError} for names that can't be; nothing is removed
   * @throws {OperatorInputError} for an order that can't be
   */
  async removeMany(names: Iterable<string>, order: ManyOrder, entrance: ManyEntrance = {}): Promise<ManyReport> {
    const asked = checkedMany(order);
    const wanted = checkedNames(names).valid();
    const { catalog, pods } = this.ports;
    return new ManyCrons(catalog, removing({ catalog, pods }, asked), wanted).run(
      order,
      this.#recorder(asked, entrance),
    );
  }

  /** Every cron that is not removed, as `setMany` takes it, page after page of the store. */
  async *export({ tag }: ExportQuery = {}): AsyncGenerator<NamedCron, void> {
    // What changes meanwhile comes once more.
    const seen = new Set<string>();
    for await (const page of changePages(this.ports.catalog, null, PAGE)) {
      for (const entry of page?.entries ?? []) {
        const { name } = entry.definition;
        if (seen.has(name)) continue;
        seen.add(name);
        const cron = exportedCron(entry, tag);
        if (cron) yield cron;
      }
    }
  }

  *#checked(crons: Iterable<NamedCron>, { positions, problems: before = [] }: ManyEntrance) {
    const found = new CheckedCrons<Declaration>(before);
    let n = 0;
    for (const { name, ...settings } of crons) {
      const position = positions?.[n] ?? n + 1;
      found.add(position, name, () => this.check(name, settings));
      n += 1;
      yield;
    }
    return found;
  }

  #recorder({ by, reason }: Asked, { record }: ManyEntrance): RecordPart {
    return (
      record ??
      ((part, work) => withOwnAudit(this.ports.audit, { by, reason, runId: null, before: null, ...part }, work))
    );
  }

  /** Merges the changes into the expected generation only: another one is `moved`. */
  async #put(name: string, changes: CronChanges, asked: ChangeOrder): Promise<ChangeReply> {
    const before = await this.get(name);
    const generation = liveGeneration(before);
    // An unreadable record has nothing to keep, and only the catalog knows its generation.
    if (before && generation !== asked.expected) return { verdict: 'moved', generation };
    const declaration = changedCron(before, changes, (settings) => this.check(name, settings));
    await checkFormat(declaration, this.ports.membership);
    return this.ports.catalog.put(declaration, asked);
  }

  /** Every change of a definition leaves an audit record, also that of a program which has no token. */
  async #recorded(change: Change, work: () => Promise<CatalogEntry>): Promise<CatalogEntry> {
    const { name: cron, order, before } = change;
    const about = { by: order.by, reason: order.reason ?? null, action: 'set', cron, runId: null };
    return withOwnAudit(this.ports.audit, { ...about, before: shown(before), after: shown }, work);
  }

  async #change(name: string, order: CatalogOrder, ask: Ask): Promise<number> {
    const { by, reason } = checkedMany(order);
    let expected = order.expected === undefined ? await this.#present(name) : checkedGeneration(order.expected);
    for (let tries = 1; ; tries += 1) {
      const reply = await ask({ expected, by, reason });
      if (reply.verdict === 'accepted') return reply.generation;
      if (reply.verdict === 'full') throw new CatalogFullError(reply.count, reply.limit);
      if (order.expected !== undefined || tries === MAX_TRIES) {
        throw new CatalogMovedError(name, expected, reply.generation);
      }
      expected = reply.generation;
    }
  }

  async #isUnreadable(cron: string): Promise<boolean> {
    const { unreadable = [] } = await this.ports.catalog.read([cron]);
    return unreadable.some(({ name }) => name === cron);
  }

  async #present(name: string): Promise<number | null> {
    return liveGeneration(await this.get(name));
  }

  #now(): number {
    return this.ports.clock.now();
  }
}

function liveGeneration(entry: CatalogEntry | null): number | null {
  return entry && entry.state !== 'removed' ? entry.generation : null;
}

interface Asked {
  readonly by: string;
  readonly reason: string | null;
}

function checkedMany({ by, reason }: Pick<ManyOrder, 'by' | 'reason'>): Asked {
  return { by: checkedText('by', by), reason: reason === undefined ? null : checkedText('reason', reason) };
}

function isNoNewer(a: Declaration, b: Declaration): boolean {
  return formatOf(a.definition) <= formatOf(b.definition);
}

interface Change {
  readonly name: string;
  readonly order: CatalogOrder;
  readonly before: CatalogEntry | null;
}

function shown(entry: CatalogEntry | null): object | null {
  if (entry === null) return null;
  const { generation, state, definition } = entry;
  return { generation, state, definition };
}

type Ask = (order: ChangeOrder) => Promise<ChangeReply>;

function checkedGeneration(expected: number | null): number | null {
  if (expected === null || (Number.isSafeInteger(expected) && expected > 0)) return expected;
  throw OperatorInputError.of('expected', 'a generation, or null for a cron that is not there', expected);
}
