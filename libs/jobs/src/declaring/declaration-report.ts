import {
  isSameDeclaration,
  type AppRevision,
  type DeclaredCron,
  type DefinitionSet,
  type Revision,
  type Word,
} from '@fencepost/ledger/catalog';
import type { PodCard, RegistryReading } from '../pods/pod-registry.js';
import type { Events } from '../telemetry/events.js';
import type { Telemetry } from '../telemetry/telemetry.js';
import { podsOf } from './standing.js';

/** Names in one event. */
const MAX_NAMED = 20;

/** A pod that lived for less than this counts as one that came and went. */
const SHORT_LIFE_MS = 60_000;
/** So many within {@link FLAPPING_MS} are told: one may be a restart, two a coincidence. */
const FLAPS = 3;
const FLAPPING_MS = 10 * 60_000;

/** Each decision about definitions is an event, once for each change of it. */
export class DeclarationReport {
  readonly #told = new Map<string, string>();
  #isFirst = true;
  #held = false;
  #released = false;
  /** Pods of other revisions of the app as last seen, and when short-lived ones were missed. */
  #pods: readonly PodCard[] = [];
  readonly #flaps = new Map<Revision, number[]>();

  constructor(
    private readonly telemetry: Telemetry,
    public own: AppRevision,
  ) {}

  declared({ reply, superseded, total }: Declared): void {
    const isFirst = this.#isFirst;
    this.#isFirst = false;
    const of = (...words: Word[]) => reply.flatMap(({ cron, word }) => (words.includes(word) ? [cron] : []));
    const begun = { created: of('created'), changed: of('changed'), reverted: of('reverted') };
    const changed = of('created', 'changed', 'reverted', 'restored', 'taken').length;
    if (isFirst || changed > 0) {
      this.telemetry.emit('catalog.declared', { ...this.own, declared: total, changed, superseded: superseded.size });
    }
    // What this process has declared before is new to a catalog that was lost.
    if (isFirst || this.#released) this.#emit('catalog.created', begun.created);
    else this.#emit('catalog.redeclared', begun.created);
    this.#emit('catalog.changed', begun.changed);
    this.#emit('catalog.reverted', begun.reverted);
    this.#emit('catalog.restored', of('restored'));
    this.#emit('catalog.taken', of('taken'));
    this.#emitNews('catalog.withheld', of('withheld'));
    this.#emitNews('catalog.later', of('later'));
    this.#superseded(reply, superseded);
    this.#foreign(reply);
  }

  removed(crons: readonly string[], removeAfterMs: number): void {
    if (crons.length > 0) this.telemetry.emit('catalog.removed', { ...this.own, ...named(crons), removeAfterMs });
  }

  held(crons: readonly string[], oldest: { readonly format: number; readonly pod: string }): void {
    const wasHeld = this.#held;
    [this.#held, this.#released] = [crons.length > 0, wasHeld && crons.length === 0];
    if (this.#held && !wasHeld) {
      this.telemetry.emit('catalog.texts-held', { crons: crons.slice(0, MAX_NAMED), ...oldest });
    }
  }

  /** Two live revisions of one app: of one code they should not differ, and of two programs they have nothing in common. */
  compared({ reading, own, other }: Compared): void {
    const { revision, names } = other;
    const shared = [...own.crons].filter(([name]) => names.has(name));
    const differing = shared.flatMap(([name, hash]) => (isSameDeclaration(hash, names.get(name) ?? '') ? [] : [name]));
    const ours = codesOf(podsOf(reading, this.own));
    const theirs = codesOf(podsOf(reading, { app: this.own.app, revision }));
    const isSameCode = [...ours].some((code) => theirs.has(code));
    if (isSameCode && differing.length > 0) {
      this.#once(`differs ${revision}`, () =>
        this.telemetry.emit('catalog.differs', { ...this.own, ...named(differing), other: revision }),
      );
    }
    if (shared.length > 0 || own.crons.size === 0 || names.size === 0) return;
    this.#once(`shared ${revision}`, () =>
      this.telemetry.emit('catalog.app-shared', { ...this.own, ...named([...names.keys()]), other: revision }),
    );
  }

  /** Notices a revision whose pods come and go. */
  looked(reading: RegistryReading, now: number): void {
    const present = new Set(reading.pods.map(({ pod }) => pod));
    for (const { pod, revision, startedAt, seenAt } of this.#pods) {
      if (revision === null || present.has(pod) || seenAt - startedAt > SHORT_LIFE_MS) continue;
      const recent = (this.#flaps.get(revision) ?? []).filter((at) => now - at < FLAPPING_MS);
      this.#flaps.set(revision, [...recent, now]);
      if (recent.length + 1 !== FLAPS) continue;
      this.telemetry.emit('revision.unstable', { app: this.own.app, revision, pods: FLAPS });
    }
    this.#pods = reading.pods.filter(({ app }) => app === this.own.app);
  }

  #superseded(reply: readonly DeclaredCron[], superseded: ReadonlyMap<string, Revision>): void {
    const all = new Map(superseded);
    for (const { cron, revision } of reply) if (revision !== undefined) all.set(cron, revision);
    const by = [...new Set(all.values())].toSorted((a, b) => b - a);
    this.#emitNews('catalog.superseded', [...all.keys()], { by });
  }

  #foreign(reply: readonly DeclaredCron[]): void {
    const foreign = reply.filter(({ word }) => word === 'foreign');
    const owners = [...new Set(foreign.flatMap(({ app }) => app ?? []))];
    this.#emitNews(
      'catalog.foreign',
      foreign.map(({ cron }) => cron),
      { owners },
    );
  }

  #emit(event: Plain, crons: readonly string[]): void {
    if (crons.length > 0) this.telemetry.emit(event, { ...this.own, ...named(crons) });
  }

  /** What holds on from one declaration to the next is told when it changes. */
  #emitNews<Name extends Lasting>(event: Name, crons: readonly string[], rest: Partial<Events[Name]> = {}): void {
    const all = crons.toSorted().join();
    const isNews = crons.length > 0 && this.#told.get(event) !== all;
    this.#told.set(event, all);
    if (isNews) this.telemetry.emit(event, { ...this.own, ...named(crons), ...rest } as unknown as Events[Name]);
  }

  #once(what: string, tell: () => void): void {
    if (this.#told.has(what)) return;
    this.#told.set(what, '');
    tell();
  }
}

interface Declared {
  readonly reply: readonly DeclaredCron[];
  readonly superseded: ReadonlyMap<string, Revision>;
  /** How many crons the process has. */
  readonly total: number;
}

interface Compared {
  readonly reading: RegistryReading;
  readonly own: Pick<DefinitionSet, 'crons'>;
  readonly other: { readonly revision: Revision; readonly names: ReadonlyMap<string, string> };
}

type Plain =
  | 'catalog.created'
  | 'catalog.redeclared'
  | 'catalog.changed'
  | 'catalog.reverted'
  | 'catalog.restored'
  | 'catalog.taken';

type Lasting = 'catalog.superseded' | 'catalog.foreign' | 'catalog.withheld' | 'catalog.later';

function named(crons: readonly string[]) {
  return { crons: crons.slice(0, MAX_NAMED), count: crons.length };
}

function codesOf(pods: readonly PodCard[]): ReadonlySet<string> {
  return new Set(pods.flatMap(({ code }) => code ?? []));
}
