import type { Clock } from '@fencepost/lease';
import { changePages } from '@fencepost/ledger/catalog';
import type { Build, Catalog, CatalogChanges, Declaration, DeclareReply } from '@fencepost/ledger/catalog';
import { FIRST_FORMAT, formatOf, inFormat } from '@fencepost/ledger/format';
import type { Membership } from '../membership/membership.js';
import type { Telemetry } from '../telemetry/telemetry.js';

interface DeclarerPorts {
  readonly catalog: Pick<Catalog, 'declare' | 'read' | 'since'>;
  readonly membership: Pick<Membership, 'lowestFormat'>;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
}

/** A tombstone is kept for as long as processes declare its cron, and the catalog learns of that once an hour. */
const DECLARE_FULLY_MS = 30 * 60_000;

/** Declares the crons of a worker, and again when the catalog may not have them as they were declared. */
export class Declarer {
  readonly #report: DeclarationReport;
  /** A version of the catalog in which nothing had to be declared; `null`: not known. */
  #settled: number | null = null;
  #declaredAt = -Infinity;

  constructor(
    private readonly ports: DeclarerPorts,
    private readonly declarations: ReadonlyMap<string, Declaration>,
    private readonly build: Build,
  ) {
    this.#report = new DeclarationReport(ports.telemetry, build);
  }

  async declare(): Promise<void> {
    const { catalog, clock } = this.ports;
    this.#settled = null;
    const declaredAt = clock.monotonic();
    // Asked before: a change that comes during the declaration is looked at the next time.
    const { version } = await catalog.read([]);
    const { writable, held } = await this.#writable([...this.declarations.values()]);
    const reply = await catalog.declare(writable, this.build);
    this.#report.report(reply, this.declarations.size);
    this.#declaredAt = declaredAt;
    const nothingNew = reply.changed.length + reply.removed.length + held === 0;
    if (nothingNew) this.#settled = version;
  }

  /** Declares again unless the catalog has changed in nothing that was declared here: one short call, however many crons. */
  async repeat(): Promise<void> {
    if (!(await this.#isSettled())) await this.declare();
  }

  /** The next repetition declares whatever the catalog has. */
  forget(): void {
    this.#settled = null;
  }

  async #isSettled(): Promise<boolean> {
    const { catalog, clock } = this.ports;
    const settled = this.#settled;
    if (settled === null || clock.monotonic() - this.#declaredAt >= DECLARE_FULLY_MS) return false;
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
    return names.some((name) => this.declarations.has(name));
  }

  /** What every live process has the format for, and how many crons have more; asked only where something needs it. */
  async #writable(declarations: readonly Declaration[]): Promise<{ writable: readonly Declaration[]; held: number }> {
    const asking = declarations.filter(({ definition }) => formatOf(definition) > FIRST_FORMAT);
    if (asking.length === 0) return { writable: declarations, held: 0 };
    const { format, process } = await this.ports.membership.lowestFormat();
    const held = asking.flatMap(({ definition }) => (formatOf(definition) > format ? [definition.name] : []));
    this.#report.reportHeld(held, { format, pod: process ?? '' });
    return { writable: declarations.map((declaration) => inFormat(declaration, format)), held: held.length };
  }
}

/** In one event. */
const MAX_NAMED = 20;

/** Reports the result of declaring, which is repeated every few seconds: only what has changed since. */
export class DeclarationReport {
  readonly #reported = new Map<string, string>();
  #isFirst = true;
  #held = false;
  #released = false;

  constructor(
    private readonly telemetry: Telemetry,
    private readonly build: Build,
  ) {}

  /** @param declared how many crons the build has */
  report({ changed, older, removed }: DeclareReply, declared: number): void {
    const isFirst = this.#isFirst;
    this.#isFirst = false;
    if (isFirst || changed.length > 0) {
      this.telemetry.emit('catalog.declared', { declared, changed: changed.length, older: older.length });
    }
    // What this process has declared before is new to a catalog that was lost.
    if (!isFirst && changed.length > 0 && !this.#released) {
      const { seq: buildSeq, source: app } = this.build;
      this.telemetry.emit('catalog.redeclared', { crons: changed.slice(0, MAX_NAMED), buildSeq, app });
    }
    this.#reportCrons('catalog.outdated-build', older);
    this.#reportCrons('catalog.removed', removed);
  }

  reportHeld(crons: readonly string[], oldest: { readonly format: number; readonly pod: string }): void {
    const wasHeld = this.#held;
    [this.#held, this.#released] = [crons.length > 0, wasHeld && crons.length === 0];
    if (this.#held && !wasHeld)
      this.telemetry.emit('catalog.texts-held', { crons: crons.slice(0, MAX_NAMED), ...oldest });
  }

  #reportCrons(event: 'catalog.outdated-build' | 'catalog.removed', crons: readonly string[]): void {
    const all = crons.toSorted().join();
    const isNews = crons.length > 0 && this.#reported.get(event) !== all;
    this.#reported.set(event, all);
    if (isNews) this.telemetry.emit(event, { crons, buildSeq: this.build.seq, app: this.build.source });
  }
}
