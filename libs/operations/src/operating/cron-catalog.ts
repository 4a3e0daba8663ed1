import type { Clock } from '@fencepost/lease';
import { ownerPrefix } from '@fencepost/lease/internal';
import {
  CatalogFullError,
  changePages,
  readChanges,
  type Catalog,
  type CatalogEntry,
  type ChangeReply,
  type Declaration,
} from '@fencepost/ledger/catalog';
import { FIRST_FORMAT, formatOf } from '@fencepost/ledger/format';
import type { AuditTrail } from '@fencepost/ledger/audit-trail';
import { OperatorInputError } from '@fencepost/ledger';
import { CatalogMovedError, checkRuntimeCron, checkedText, knownCron, type Membership } from '@fencepost/jobs/internal';
import { UnknownCronError } from '@fencepost/jobs/errors';
import { CheckedCrons, checkedNames, type CronProblem } from './checked-crons.js';
import { ManyCrons, removing, setting, type ManyOrder, type ManyReport, type RecordPart } from './many-crons.js';
import type { CronSettings, NamedCron } from './cron-settings.js';
import { exportedCron } from './definition-change.js';
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
   * What `set` would keep of it; changes nothing.
   * @throws {CronDeclarationError} for an option that can't be
   */
  check(name: string, settings: CronSettings): Declaration {
    const { expression, ...options } = settings;
    const { minIntervalMs = 0 } = this.ports;
    const written = { expression, options: { ...options, name }, minIntervalMs };
    return checkRuntimeCron('CronCatalog.set', written, this.#now());
  }

  /**
   * Makes a cron, or changes it as a whole: an option that is left out is the default again.
   * @throws {CronDeclarationError} for an option that can't be
   * @throws {OperatorInputError} for a text that a live process of an older release would not know
   * @throws {CatalogMovedError} when another generation than the expected one is there; nothing is changed
   */
  async set(name: string, settings: CronSettings, order: CatalogOrder): Promise<CatalogEntry> {
    const declaration = this.check(name, settings);
    await this.#checkFormat(declaration);
    return this.#recorded({ action: 'set', name, order, before: await this.get(name) }, async () => {
      const generation = await this.#change(name, order, (asked) => this.ports.catalog.put(declaration, asked));
      const entry = await this.get(name);
      // Removed and deleted between the two calls.
      if (!entry) throw new CatalogMovedError(name, generation, null);
      return entry;
    });
  }

  /**
   * It stops firing; its history stays.
   * @throws {UnknownCronError} for one that isn't there, or not any more
   * @throws {CatalogMovedError} when another generation than the expected one is there; nothing is changed
   */
  async remove(name: string, order: CatalogOrder): Promise<void> {
    if (await this.#isUnreadable(name)) {
      await this.#change(name, { ...order, expected: null }, (asked) => this.ports.catalog.remove(name, asked));
      return;
    }
    const { entry } = await knownCron(this.ports.catalog, name);
    if (entry.state === 'removed') throw UnknownCronError.removed(name, entry.by);
    await this.#recorded({ action: 'remove', name, order, before: entry }, async () => {
      await this.#change(name, order, (asked) => this.ports.catalog.remove(name, asked));
      return null;
    });
  }

  /**
   * Makes many crons, or changes them, each as a whole. All are validated first, and then written in parts with one audit record
   * each. A cron that is as it should be is left alone, so the same order again goes on where one ended.
   * @throws {InvalidCronsError} for crons that can't be, with the place and the reason of each; nothing is written
   * @throws {OperatorInputError} for an order that can't be
   */
  async setMany(crons: Iterable<NamedCron>, order: ManyOrder, entrance: ManyEntrance = {}): Promise<ManyReport> {
    const asked = checkedMany(order);
    const wanted = (await inSlices(this.#checked(crons, entrance))).valid();
    const highest = wanted.reduce<Declaration | null>((a, { what: b }) => (a && isNoNewer(b, a) ? a : b), null);
    if (highest) await this.#checkFormat(highest);
    const { catalog } = this.ports;
    return new ManyCrons(catalog, setting(catalog, asked), wanted).run(order, this.#recorder(asked, entrance));
  }

  /**
   * Many crons stop firing; their history stays. Those that are not there, or not any more, count as unchanged.
   * @throws {InvalidCronsError} for names that can't be; nothing is removed
   * @throws {OperatorInputError} for an order that can't be
   */
  async removeMany(names: Iterable<string>, order: ManyOrder, entrance: ManyEntrance = {}): Promise<ManyReport> {
    const asked = checkedMany(order);
    const wanted = checkedNames(names).valid();
    const { catalog } = this.ports;
    return new ManyCrons(catalog, removing(catalog, asked), wanted).run(order, this.#recorder(asked, entrance));
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

  async #checkFormat({ definition }: Declaration): Promise<void> {
    const wanted = formatOf(definition);
    if (wanted === FIRST_FORMAT || !this.ports.membership) return;
    const { format, process } = await this.ports.membership.lowestFormat();
    if (format >= wanted) return;
    throw new OperatorInputError(
      `"${definition.name}" can't have a description, an owner or a runbook yet: the process "${ownerPrefix(process ?? '')}" has ` +
        `format ${format}, and they need format ${wanted}. Upgrade that process, then repeat the command.`,
    );
  }

  /** Every change of a definition leaves an audit record, also that of a program which has no token. */
  async #recorded<Result extends CatalogEntry | null>(change: Change, work: () => Promise<Result>): Promise<Result> {
    const { action, name: cron, order, before } = change;
    const about = { by: order.by, reason: order.reason ?? null, action, cron, runId: null };
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
    const entry = await this.get(name);
    return entry && entry.state !== 'removed' ? entry.generation : null;
  }

  #now(): number {
    return this.ports.clock.now();
  }
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
  readonly action: 'set' | 'remove';
  readonly name: string;
  readonly order: CatalogOrder;
  readonly before: CatalogEntry | null;
}

function shown(entry: CatalogEntry | null): object | null {
  if (entry === null) return null;
  const { generation, state, definition } = entry;
  return { generation, state, definition };
}

type Ask = (order: { expected: number | null; by: string; reason: string | null }) => Promise<ChangeReply>;

function checkedGeneration(expected: number | null): number | null {
  if (expected === null || (Number.isSafeInteger(expected) && expected > 0)) return expected;
  throw OperatorInputError.of('expected', 'a generation, or null for a cron that is not there', expected);
}
