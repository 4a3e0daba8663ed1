import type { Clock } from '@fencepost/lease';
import {
  changePages,
  definitionSet,
  type AppRevision,
  type Catalog,
  type CatalogChanges,
  type Declaration,
  type DeclaredCron,
  type DefinitionSet,
  type Revision,
} from '@fencepost/ledger/catalog';
import { FIRST_FORMAT, formatOf, inFormat, REVISIONS_FORMAT } from '@fencepost/ledger/format';
import type { Membership } from '../membership/membership.js';
import type { PodRegistry } from '../pods/pod-registry.js';
import type { Telemetry } from '../telemetry/telemetry.js';
import { DeclarationReport } from './declaration-report.js';
import { readForeignNames, type ForeignNames } from './foreign-names.js';
import { RevisionWatch, type RevisionWatchDeps } from './revision-watch.js';
import { DECLARE_FULLY_MS, keyOf, type Standing } from './standing.js';
import { Unanswered } from './unanswered.js';

export interface DeclarerPorts {
  readonly catalog: Pick<Catalog, 'declare' | 'drop' | 'listUndeclared' | 'read' | 'revisions' | 'since'>;
  readonly registry: Pick<PodRegistry, 'look'>;
  readonly membership: Pick<Membership, 'lowestFormat'>;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly random: () => number;
}

/** Who declares, and what. */
export interface DeclarerOptions extends Pick<RevisionWatchDeps, 'change' | 'timing'> {
  /** Identity of this process in the registry. */
  readonly pod: string;
  readonly app: string;
  /** The number that the application gives itself; `null`: the store numbers its definitions. */
  readonly explicit: number | null;
  readonly declarations: ReadonlyMap<string, Declaration>;
  /** The lowest format of the live processes, as last heard. */
  readonly lowest: () => number;
  /** The version of the catalog, as last heard, a few seconds ago at most; `null`: not known. */
  readonly catalogVersion: () => number | null;
}

interface Enrolled {
  readonly set: DefinitionSet;
  readonly revision: Revision;
  readonly foreign: ForeignNames;
}

/** Crons of other apps that are looked into at once. */
const MAX_FOREIGN = 1_000;

/**
 * Declares the crons of one process for as long as it lives, and keeps the catalog the union of what live pods declare: it takes
 * over from newer revisions that are gone, and removes the crons that no live pod of its app declares any more.
 *
 * Every decision follows from the pod registry and the revisions alone, so it does not matter which pod takes it.
 */
export class Declarer {
  readonly foreign: ForeignNames;
  readonly #report: DeclarationReport;
  readonly #set: DefinitionSet;
  #own: AppRevision;
  #watch: RevisionWatch;
  /** What the last declaration depended on. */
  #declaredUnder = '';
  /** The removable revisions whose crons have been removed. */
  #removedUnder = '';
  /** A version of the catalog in which nothing had to be declared; `null`: not known. */
  #settled: number | null = null;
  #declaredAt = -Infinity;
  #formersSeenAt: number;
  readonly #declaring: Unanswered;
  readonly #dropping: Unanswered;
  #repeating = false;

  private constructor(
    private readonly ports: DeclarerPorts,
    private readonly options: DeclarerOptions,
    { set, revision, foreign }: Enrolled,
  ) {
    const { app } = options;
    this.#set = set;
    this.foreign = foreign;
    this.#own = { app, revision };
    this.#report = new DeclarationReport(ports.telemetry, this.#own);
    this.#watch = new RevisionWatch({ ...ports, ...options }, this.#own, set);
    this.#formersSeenAt = ports.clock.monotonic();
    this.#declaring = new Unanswered(ports.random);
    this.#dropping = new Unanswered(ports.random);
  }

  /**
   * Has the definitions of this process numbered.
   * @throws {SetupError} for an explicit number that is none
   */
  static async enrol(ports: DeclarerPorts, options: DeclarerOptions): Promise<Declarer> {
    const set = definitionSet(options, [...options.declarations.values()]);
    const reading = await ports.registry.look();
    // A catalog that was lost a moment ago does not know the revisions that are live.
    const numbers = reading.revisions.filter(({ app }) => app === options.app).map(({ revision }) => revision);
    const above = Math.max(0, ...numbers);
    const revision = await ports.catalog.revisions.enrol(set, { above });
    const foreign = await readForeignNames(ports.catalog, options, reading);
    return new Declarer(ports, options, { set, revision, foreign });
  }

  /** Another one after a loss of the catalog in which the number was given to another set. */
  get revision(): Revision {
    return this.#own.revision;
  }

  /**
   * Declares whatever the catalog has. The pod must have reported its revision before: others give no weight to a definition
   * whose revision no live pod has.
   */
  async declare(): Promise<void> {
    const { catalog, clock } = this.ports;
    this.#settled = null;
    const declaredAt = clock.monotonic();
    // Asked before: a change that comes during the declaration is looked at the next time.
    const { version } = await catalog.read([]);
    await this.#watch.look();
    if (!this.#watch.isEnrolled) await this.#enrolAgain();
    const standing = this.#watch.standing();
    const superseded = await this.#superseded(standing);
    const own = [...this.options.declarations.values()];
    // What a newer revision has by now may have been declared before, by a call whose reply got lost.
    const isWanted = (cron: string) => !superseded.has(cron) || this.#declaring.crons.has(cron);
    const { writable, held } = await this.#writable(own.filter(({ definition }) => isWanted(definition.name)));
    const names = writable.map(({ definition }) => definition.name);
    const reply = await this.#declaring.ask(names, () => this.#put(writable, standing));
    this.foreign.learn(reply);
    this.#report.declared({ reply, superseded, total: own.length });
    await this.#compare(standing);
    this.#declaredAt = declaredAt;
    this.#declaredUnder = keyOfStanding(this.#watch.standing());
    if (held === 0 && !reply.some(writes)) this.#settled = version;
  }

  /**
   * Declares again where the live revisions or the catalog have changed, and removes what no live pod declares: one short call
   * where nothing has changed, however many crons. Does nothing while an earlier repetition is under way.
   */
  async repeat(): Promise<void> {
    if (this.#repeating) return;
    this.#repeating = true;
    try {
      await this.#repeat();
    } finally {
      this.#repeating = false;
    }
  }

  async #repeat(): Promise<void> {
    const { clock } = this.ports;
    if (this.options.lowest() < REVISIONS_FORMAT) this.#formersSeenAt = clock.monotonic();
    if (await this.#watch.lookIfNeeded(this.options.pod)) this.#report.looked(this.#watch.reading, clock.monotonic());
    if (!this.#watch.speaks(this.options.pod)) return;
    const isSame = keyOfStanding(this.#watch.standing()) === this.#declaredUnder;
    if (!isSame || !(await this.#isSettled())) await this.declare();
    await this.#removeUndeclared(this.#watch.standing());
  }

  /** The next repetition declares whatever the catalog has. */
  forget(): void {
    this.#settled = null;
  }

  /** In a catalog that was lost. Another set may have been given the number of this one meanwhile. */
  async #enrolAgain(): Promise<void> {
    const { app, revision: claimed } = this.#own;
    const revision = await this.ports.catalog.revisions.enrol(this.#set, { claimed });
    if (revision === claimed) return;
    this.#report.own = this.#own = { app, revision };
    this.#watch = new RevisionWatch({ ...this.ports, ...this.options }, this.#own, this.#set);
    await this.#watch.look();
  }

  /** Crons of this process that a newer revision has. Where its names are not kept any more, the catalog judges each. */
  async #superseded({ newer }: Standing): Promise<ReadonlyMap<string, Revision>> {
    const { app } = this.#own;
    const superseded = new Map<string, Revision>();
    for (const revision of newer.toReversed()) {
      const names = await this.#watch.namesOf({ app, revision });
      for (const name of names?.keys() ?? []) if (this.#set.crons.has(name)) superseded.set(name, revision);
    }
    return superseded;
  }

  async #put(declarations: readonly Declaration[], { gone }: Standing): Promise<readonly DeclaredCron[]> {
    const { catalog } = this.ports;
    const reply = await catalog.declare(declarations, { ...this.#by(gone), ...this.#declaring.call });
    const foreign = new Set(reply.flatMap(({ cron, word }) => (word === 'foreign' ? [cron] : [])));
    const holders = await this.#holders([...foreign].slice(0, MAX_FOREIGN));
    const givenUp = await this.#watch.givenUp(holders);
    if (givenUp.length === 0) return reply;
    const wanted = declarations.filter(({ definition }) => foreign.has(definition.name));
    const again = await catalog.declare(wanted, { ...this.#by([...gone, ...givenUp]), ...this.#declaring.call });
    return [...reply.filter(({ cron }) => !foreign.has(cron)), ...again];
  }

  /** Which revisions of other apps hold these crons. */
  async #holders(crons: readonly string[]): Promise<ReadonlyMap<AppRevision, string[]>> {
    const held = new Map<string, { readonly holder: AppRevision; readonly crons: string[] }>();
    const { entries } = crons.length === 0 ? { entries: [] } : await this.ports.catalog.read(crons);
    for (const { app, revision, definition } of entries) {
      if (app === null || revision === null || app === this.#own.app) continue;
      const holder = { app, revision };
      const known = held.get(keyOf(holder)) ?? { holder, crons: [] };
      known.crons.push(definition.name);
      held.set(keyOf(holder), known);
    }
    return new Map(Array.from(held.values(), ({ holder, crons: names }) => [holder, names]));
  }

  /** Once for each revision that is gone: from then on no record names it. */
  async #removeUndeclared({ removable, recent }: Standing): Promise<void> {
    const formersGone = this.#formersGone();
    const key = [...removable.map(keyOf).toSorted(), formersGone].join();
    if (key === this.#removedUnder || (removable.length === 0 && !formersGone)) return;
    const alive = await this.#watch.declaredBy(recent);
    // A revision whose names are not kept may declare any of them.
    if (alive === null) return;
    const by = this.#by(removable);
    const found = new Set<string>();
    let after: string | null = null;
    do {
      const { crons, next } = await this.ports.catalog.listUndeclared(by, after);
      for (const cron of crons) if (!alive.some((names) => names.has(cron))) found.add(cron);
      after = next;
    } while (after !== null);
    const crons = [...new Set([...found, ...this.#dropping.crons])];
    const drop = () => this.ports.catalog.drop(crons, { ...this.#by(removable), ...this.#dropping.call });
    const removed = crons.length === 0 ? [] : await this.#dropping.ask(crons, drop);
    this.#report.removed(removed, this.options.timing.removeAfterMs);
    this.#removedUnder = key;
  }

  /** Tells of live revisions of the app that no deploy explains. */
  async #compare({ live }: Standing): Promise<void> {
    for (const revision of live) {
      if (revision === this.#own.revision) continue;
      const names = await this.#watch.namesOf({ app: this.#own.app, revision });
      if (names) this.#report.compared({ reading: this.#watch.reading, own: this.#set, other: { revision, names } });
    }
  }

  #by(gone: readonly AppRevision[]) {
    return { ...this.#own, gone, formersGone: this.#formersGone() };
  }

  /** Processes of a former release report no revision, and may be the only ones that declare a cron. */
  #formersGone(): boolean {
    return this.ports.clock.monotonic() - this.#formersSeenAt >= this.options.timing.removeAfterMs;
  }

  async #isSettled(): Promise<boolean> {
    const { catalog, clock } = this.ports;
    const { declareFullyMs = DECLARE_FULLY_MS } = this.options.timing;
    const settled = this.#settled;
    if (settled === null || clock.monotonic() - this.#declaredAt >= declareFullyMs) return false;
    if (this.options.catalogVersion() === settled) return true;
    let version = settled;
    for await (const page of changePages(catalog, settled)) {
      if (!page || this.#isConcerned(page)) return false;
      version = page.version;
    }
    if (this.#settled === settled) this.#settled = version;
    return true;
  }

  #isConcerned({ entries, gone, unreadable = [] }: CatalogChanges): boolean {
    const names = [...entries.map(({ definition }) => definition.name), ...gone, ...unreadable.map(({ name }) => name)];
    return names.some((name) => this.options.declarations.has(name));
  }

  /** What every live process has the format for, and how many crons have more; asked only where something needs it. */
  async #writable(declarations: readonly Declaration[]): Promise<{ writable: readonly Declaration[]; held: number }> {
    const asking = declarations.filter(({ definition }) => formatOf(definition) > FIRST_FORMAT);
    if (asking.length === 0) return { writable: declarations, held: 0 };
    const { format, process } = await this.ports.membership.lowestFormat();
    const held = asking.flatMap(({ definition }) => (formatOf(definition) > format ? [definition.name] : []));
    this.#report.held(held, { format, pod: process ?? '' });
    return { writable: declarations.map((declaration) => inFormat(declaration, format)), held: held.length };
  }
}

const QUIET: ReadonlySet<string> = new Set(['same', 'superseded', 'foreign', 'withheld', 'later']);

function writes({ word }: DeclaredCron): boolean {
  return !QUIET.has(word);
}

function keyOfStanding({ newer, gone, abandoned, live }: Standing): string {
  return [newer.join(), live.join(), [...gone, ...abandoned].map(keyOf).toSorted().join()].join(';');
}
