import type { FencepostError } from '@fencepost/lease';
import { CatalogFullError, contentHash } from '@fencepost/ledger/catalog';
import type { Catalog, CatalogEntry, ChangeReply, Declaration, Orderer } from '@fencepost/ledger/catalog';
import type { PodRegistry } from '@fencepost/jobs/internal';
import { MAX_PROBLEMS, type CronProblem, type Wanted } from './checked-crons.js';
import { removabilityOf, type Removability } from './declared-crons.js';
import { inSlices } from './slices.js';

/** How far an order to many crons has come. */
export interface ManyProgress {
  readonly total: number;
  /** So many have been decided, from the first on. */
  readonly asked: number;
  readonly created: number;
  readonly changed: number;
  readonly unchanged: number;
  readonly failed: number;
}

interface Aborted {
  readonly code: 'ABORTED';
  readonly detail: string;
}

/** A tenant has as many crons as it may have. */
interface Full {
  readonly code: 'CATALOG_FULL';
  readonly detail: string;
  readonly count: number;
  readonly limit: number;
}

/** What became of many crons. */
export interface ManyReport extends ManyProgress {
  readonly dryRun: boolean;
  /** Why single ones were not changed, the first {@link MAX_PROBLEMS}. */
  readonly problems: readonly CronProblem[];
  /** Why it ended before the last one; `null`: it did not. The same order again goes on, as what is done is unchanged. */
  readonly stopped: Aborted | Full | null;
}

/** What is asked of many crons. */
export interface ManyOrder {
  readonly by: string;
  readonly reason?: string;
  /** Writes nothing, and says what would be changed. */
  readonly dryRun?: boolean;
  /** Ends it before the next part; the same order again goes on. */
  readonly signal?: AbortSignal;
  /** Called after each part. */
  readonly onProgress?: (progress: ManyProgress) => void;
}

/** Does one part of an order to many, and leaves a record of it. */
export type RecordPart = (part: PartRecord, work: () => Promise<PartResult>) => Promise<PartResult>;

/** What the audit record of a part shows. */
export interface PartRecord {
  readonly action: 'set' | 'remove';
  readonly cron: null;
  readonly changed: (part: PartResult) => boolean;
  readonly cronsOf: (part: PartResult) => readonly string[];
  readonly after: (part: PartResult) => object;
}

/** The outcome of each cron of a part, by position. */
export type PartResult = readonly {
  readonly cron: string;
  readonly position: number;
  readonly fate: Fate;
  /** The app of a removed cron: it brings the cron back if it declares it again. */
  readonly declaredBy?: string | undefined;
}[];

type Fate =
  | { readonly is: 'created' | 'changed' | 'unchanged' }
  | { readonly is: 'failed'; readonly code: string; readonly detail: string };

/** One record of the audit trail names at most so many, as after every order to many crons. */
const IN_A_PART = 1_000;
/** The store holds everybody else up for a few milliseconds at a time. */
const AT_ONCE = 250;

/** Of an order to many crons, what differs between setting and removing. */
interface Kind<What> {
  readonly action: 'set' | 'remove';
  readonly ask: (wanted: readonly Wanted<What>[]) => Promise<ChangeReply[]>;
  /** Tells which crons of a part must not be removed. */
  readonly examine: (wanted: readonly Wanted<What>[]) => Promise<Removability>;
  /** What a dry run says of it, by what is there. */
  readonly preview: (what: What, entry: CatalogEntry | undefined) => Fate['is'];
}

type ManyPorts = Pick<Catalog, 'read' | 'putMany' | 'removeMany'>;

const NOTHING_REMOVED: Removability = { refusals: new Map(), declaredBy: new Map() };

/** @param order checked before */
export function setting(catalog: ManyPorts, order: Orderer): Kind<Declaration> {
  return {
    action: 'set',
    examine: async () => NOTHING_REMOVED,
    ask: (wanted) =>
      catalog.putMany(
        wanted.map(({ what: declaration }) => ({ declaration })),
        order,
      ),
    preview: (declared, entry) => {
      if (!entry || entry.state === 'removed') return 'created';
      const { definition, state } = entry;
      const there = contentHash({ definition, disabled: state === 'disabled' });
      return contentHash(declared) === there ? 'unchanged' : 'changed';
    },
  };
}

interface RemovalPorts {
  readonly catalog: ManyPorts;
  readonly pods: Pick<PodRegistry, 'look'> | undefined;
}

/** @param order checked before */
export function removing({ catalog, pods }: RemovalPorts, order: Orderer): Kind<null> {
  return {
    action: 'remove',
    examine: async (wanted) => removabilityOf((await catalog.read(wanted.map(({ cron }) => cron))).entries, pods),
    ask: (wanted) =>
      catalog.removeMany(
        wanted.map(({ cron }) => ({ cron })),
        order,
      ),
    preview: (_, entry) => (entry && entry.state !== 'removed' ? 'changed' : 'unchanged'),
  };
}

/** An order to many crons, part after part: each part has one audit record, and what is as it should be is left alone. */
export class ManyCrons<What> {
  readonly #problems: CronProblem[] = [];
  readonly #counts = { created: 0, changed: 0, unchanged: 0, failed: 0 };
  #asked = 0;
  #full: Full | null = null;

  constructor(
    private readonly catalog: Pick<Catalog, 'read'>,
    private readonly kind: Kind<What>,
    private readonly wanted: readonly Wanted<What>[],
  ) {}

  async run(order: ManyOrder, record: RecordPart): Promise<ManyReport> {
    const { dryRun = false, onProgress } = order;
    for (let at = 0; at < this.wanted.length && !this.#full; at += IN_A_PART) {
      if (order.signal?.aborted) break;
      const part = this.wanted.slice(at, at + IN_A_PART);
      const found = await this.kind.examine(part);
      const fates = await (dryRun
        ? this.#preview(part, found)
        : record(partRecord(this.kind.action), () => this.#ask(part, found)));
      await inSlices(this.#count(fates));
      onProgress?.(this.#progress());
    }
    return { ...this.#progress(), dryRun, problems: this.#problems, stopped: this.#stopped() };
  }

  async #ask(part: readonly Wanted<What>[], found: Removability): Promise<PartResult> {
    const fates = refused(part, found);
    const allowed = part.filter(({ cron }) => !found.refusals.has(cron));
    for (let at = 0; at < allowed.length && !this.#full; at += AT_ONCE) {
      const some = allowed.slice(at, at + AT_ONCE);
      const replies = await this.kind.ask(some);
      for (const [n, { cron, position }] of some.entries()) {
        const reply = replies[n];
        if (reply?.verdict === 'full') this.#full ??= fullOf(reply);
        fates.push({ cron, position, fate: fateOf(reply), declaredBy: found.declaredBy.get(cron) });
      }
    }
    return fates.toSorted((a, b) => a.position - b.position);
  }

  async #preview(part: readonly Wanted<What>[], { refusals }: Removability): Promise<PartResult> {
    const { entries } = await this.catalog.read(part.map(({ cron }) => cron));
    const byName = new Map(entries.map((entry) => [entry.definition.name, entry]));
    return part.map(({ cron, position, what }) => {
      const is = this.kind.preview(what, byName.get(cron));
      return { cron, position, fate: failedBy(refusals.get(cron)) ?? ({ is } as Fate) };
    });
  }

  *#count(fates: PartResult): Generator<void, void> {
    for (const { cron, position, fate } of fates) {
      this.#asked += 1;
      this.#counts[fate.is] += 1;
      if (fate.is === 'failed' && this.#problems.length < MAX_PROBLEMS) {
        this.#problems.push({ position, cron, code: fate.code, detail: fate.detail });
      }
      yield;
    }
  }

  #progress(): ManyProgress {
    return { total: this.wanted.length, asked: this.#asked, ...this.#counts };
  }

  #stopped(): ManyReport['stopped'] {
    if (this.#full) return this.#full;
    if (this.#asked === this.wanted.length) return null;
    return { code: 'ABORTED', detail: 'It was stopped. The same order again goes on where it ended.' };
  }
}

function refused(part: readonly Wanted<unknown>[], { refusals }: Removability): PartResult[number][] {
  return part.flatMap(({ cron, position }) => {
    const fate = failedBy(refusals.get(cron));
    return fate ? [{ cron, position, fate }] : [];
  });
}

function failedBy(error: FencepostError | undefined): Fate | null {
  return error ? { is: 'failed', code: error.code, detail: error.message } : null;
}

/** Those of a part that came to one of these ends. */
function named(part: PartResult, ...fates: readonly Fate['is'][]): string[] {
  return part.flatMap(({ cron, fate }) => (fates.includes(fate.is) ? [cron] : []));
}

function partRecord(action: 'set' | 'remove'): PartRecord {
  return {
    action,
    cron: null,
    changed: (part) => named(part, 'created', 'changed').length > 0,
    cronsOf: (part) => named(part, 'created', 'changed'),
    after: (part) => ({
      created: named(part, 'created').length,
      changed: named(part, 'changed').length,
      unchanged: named(part, 'unchanged').length,
      failed: named(part, 'failed').slice(0, MAX_PROBLEMS),
      ...comingBack(part),
    }),
  };
}

/** The removed crons that code has declared, each with the app that brings it back by declaring it again. */
function comingBack(part: PartResult): object {
  const declared = part.flatMap(({ cron, fate, declaredBy }) =>
    fate.is === 'changed' && declaredBy !== undefined ? [[cron, declaredBy]] : [],
  );
  return declared.length === 0 ? {} : { comeBackWhenDeclaredBy: Object.fromEntries(declared) };
}

function fateOf(reply: ChangeReply | undefined): Fate {
  switch (reply?.verdict) {
    case 'accepted':
      return { is: reply.generation === 1 ? 'created' : 'changed' };
    case 'unchanged':
      return { is: 'unchanged' };
    case 'full':
      return { is: 'failed', ...fullOf(reply) };
    default:
      return { is: 'failed', code: 'CATALOG_MOVED', detail: 'It was changed at the same moment. Repeat the order.' };
  }
}

function fullOf({ count, limit }: Pick<Full, 'count' | 'limit'>): Full {
  return { code: 'CATALOG_FULL', detail: new CatalogFullError(count, limit).message, count, limit };
}
