import type { Clock } from '@fencepost/lease';
import type { HeardRevision, PodCard, PodRegistry } from '@fencepost/jobs/internal';
import {
  contentHash,
  isSameDeclaration,
  type AppRevision,
  type Catalog,
  type CatalogEntry,
} from '@fencepost/ledger/catalog';
import { grouped } from './grouped.js';

/** A revision of which at least one pod is live. */
export interface LiveRevision extends AppRevision {
  readonly pods: readonly PodCard[];
  /** Each of its crons with the beginning of its hash; `null` where the catalog no longer keeps them. */
  readonly crons: ReadonlyMap<string, string> | null;
}

/** Which pods are live, and what they declare. Instants are epoch milliseconds of the registry's store. */
export interface LiveDeclarations {
  readonly now: number;
  /** When the registry began. */
  readonly bornAt: number;
  readonly pods: readonly PodCard[];
  /** By app, the newest first. */
  readonly revisions: readonly LiveRevision[];
  /** When a live pod of each revision was last heard. */
  readonly heard: readonly HeardRevision[];
}

export interface LiveRevisionsPorts {
  readonly pods: Pick<PodRegistry, 'look'>;
  readonly revisions: Pick<Catalog['revisions'], 'declaredBy'>;
  readonly clock: Pick<Clock, 'monotonic'>;
}

/** The cards of all pods are read: pages that ask every few seconds must not do so for each viewer. */
const SHARED_MS = 1_000;

type Names = ReadonlyMap<string, string>;

/** Reads which revisions are live. What a revision declares never changes, so it is read once while it is live. */
export class LiveRevisions {
  #names: ReadonlyMap<string, Names> = new Map();
  #recent: { readonly at: number; readonly live: Promise<LiveDeclarations> } | null = null;

  constructor(private readonly ports: LiveRevisionsPorts) {}

  /** As of at most a second ago. */
  recent(): Promise<LiveDeclarations> {
    const at = this.ports.clock.monotonic();
    if (this.#recent && at - this.#recent.at < SHARED_MS) return this.#recent.live;
    const live = this.read();
    this.#recent = { at, live };
    // A reading that failed is repeated by whoever asks next.
    live.catch(() => (this.#recent = null));
    return live;
  }

  async read(): Promise<LiveDeclarations> {
    const { now, bornAt, pods, revisions: heard } = await this.ports.pods.look();
    return { now, bornAt, pods, heard, revisions: await this.#named(liveRevisions(pods)) };
  }

  async #named(live: readonly Omit<LiveRevision, 'crons'>[]): Promise<LiveRevision[]> {
    const unknown = live.filter((one) => !this.#names.has(keyOf(one)));
    const found = await Promise.all(
      Array.from(
        grouped(unknown, ({ app }) => app),
        async ([app, some]) => {
          const names = await this.ports.revisions.declaredBy(
            app,
            some.map(({ revision }) => revision),
          );
          return some.map((one, index) => [keyOf(one), names[index] ?? null] as const);
        },
      ),
    );
    const known = new Map([...this.#names, ...found.flat().filter((one): one is [string, Names] => one[1] !== null)]);
    const named = live.map((one) => ({ ...one, crons: known.get(keyOf(one)) ?? null }));
    this.#names = new Map(named.flatMap((one) => (one.crons === null ? [] : [[keyOf(one), one.crons] as const])));
    return named;
  }
}

function keyOf({ app, revision }: AppRevision): string {
  return `${revision} ${app}`;
}

function liveRevisions(pods: readonly PodCard[]): Omit<LiveRevision, 'crons'>[] {
  const declaring = pods.flatMap((pod) =>
    pod.revision === null ? [] : [{ app: pod.app, revision: pod.revision, pod }],
  );
  const found = Array.from(grouped(declaring, keyOf).values(), (those) => {
    const [{ app, revision } = { app: '', revision: 0 }] = those;
    return { app, revision, pods: those.map(({ pod }) => pod) };
  });
  return found.toSorted((a, b) => compare(a.app, b.app) || b.revision - a.revision);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

/** What a live revision says of a cron, compared with the definition in force; `unknown`: its crons are no longer kept. */
export type DeclaredAs = 'same' | 'differently' | 'not' | 'unknown';

export interface DeclaredByRevision extends AppRevision {
  /** How many of its pods are live. */
  readonly pods: number;
  readonly declares: DeclaredAs;
}

/** No live pod of the app of a cron declares it, while the app has live pods. */
export interface Undeclared {
  /** When a pod that declared it was last heard; `null`: the registry has never heard one. */
  readonly since: number | null;
  /** When it will be removed unless a pod declares it until then; `null` where `since` is, or where no pod tells its `removeAfter`. */
  readonly removedAt: number | null;
}

/** Who declares a cron now. */
export interface CronDeclarations {
  /** The live revisions of its app, the newest first, then those of other apps that declare it. */
  readonly revisions: readonly DeclaredByRevision[];
  /** `null`: a live pod declares it, the app has no live pod, or the cron belongs to no app. */
  readonly undeclared: Undeclared | null;
}

/** Compares what the live revisions declare with the definition of a cron that is in force. */
export function declarationsOf(entry: CatalogEntry, live: LiveDeclarations): CronDeclarations {
  const { definition, state, app } = entry;
  const hash = contentHash({ definition, disabled: state === 'disabled' });
  const revisions = live.revisions
    .map(({ crons, pods, ...one }) => {
      return {
        app: one.app,
        revision: one.revision,
        pods: pods.length,
        declares: asDeclared(crons, definition.name, hash),
      };
    })
    .filter((one) => one.app === app || one.declares === 'same' || one.declares === 'differently');
  const own = (one: AppRevision) => one.app === app;
  return {
    revisions: [...revisions.filter(own), ...revisions.filter((one) => !own(one))],
    undeclared: undeclaredOf(entry, live),
  };
}

function asDeclared(crons: Names | null, name: string, hash: string): DeclaredAs {
  if (crons === null) return 'unknown';
  const declared = crons.get(name);
  if (declared === undefined) return 'not';
  return isSameDeclaration(hash, declared) ? 'same' : 'differently';
}

/** Whether a cron is kept although no live pod of its live app declares it, and until when. */
export function undeclaredOf(
  { app, revision, state, definition }: CatalogEntry,
  live: LiveDeclarations,
): Undeclared | null {
  if (app === null || state === 'removed') return null;
  const own = live.revisions.filter((one) => one.app === app);
  if (own.length === 0 || own.some(({ crons }) => crons === null || crons.has(definition.name))) return null;
  // A pod of a former release reports no revision, and may be the one that declares it.
  if (live.pods.some((pod) => pod.revision === null && pod.handlers.includes(definition.name))) return null;
  const last = live.heard.find((one) => one.app === app && one.revision === revision);
  if (!last) return { since: null, removedAt: null };
  // Any pod of the app removes it, so the least patient one decides.
  const patience = own.flatMap(({ pods }) => pods.flatMap(({ removeAfterMs = [] }) => removeAfterMs));
  const removedAt = patience.length === 0 ? null : last.seenAt + Math.min(...patience);
  return { since: last.seenAt, removedAt };
}
