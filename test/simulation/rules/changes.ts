import type { CatalogEntry } from '@fencepost/ledger/catalog';
import type { EventName, Events } from '@fencepost/jobs';
import type { SimProcess } from '../sim-process.js';

/** Who changed the catalog, and when. */
export interface ChangeMade {
  /** `null` for one that nobody is known to have made. */
  readonly writer: SimProcess | null;
  readonly now: number;
}

interface Pending {
  readonly text: string;
  readonly key: string;
  readonly writer: SimProcess | null;
  /** How long its writer has been able to tell of it. */
  toldUntil: number;
}

/** How an event is called that tells of a generation, by the reason that the catalog keeps with it. */
const WORD_OF_EVENT: Partial<Record<EventName, string>> = {
  'catalog.created': 'made',
  'catalog.redeclared': 'made',
  'catalog.changed': 'changed',
  'catalog.reverted': 'reverted',
  'catalog.restored': 'restored',
  'catalog.taken': 'taken',
  'catalog.removed': 'removed',
};

/** The reason that the catalog keeps with a cron that was taken over. */
export const TAKEN = 'no live pod of the app it belonged to declares it any more';

const WORD_OF_REASON: Readonly<Record<string, string>> = {
  'the newer revision has no live pod any more': 'reverted',
  'declared again': 'restored',
  [TAKEN]: 'taken',
  'no live pod declares it any more': 'removed',
};

/** Matches each generation that a revision began with the event of a pod that tells of it. */
export class ChangeLedger {
  /** A sentence for each change that no pod told of. */
  readonly silent: string[] = [];
  /** How many changes there were whose pod died before it could tell. */
  untold = 0;
  readonly #seen = new Map<string, string>();
  readonly #pending: Pending[] = [];

  /** @param patienceMs how long a pod may take to tell */
  constructor(private readonly patienceMs: number) {}

  /** @returns the crons that have a generation which was not seen before */
  changed(entries: readonly CatalogEntry[], { writer, now }: ChangeMade): CatalogEntry[] {
    const found = entries.filter((entry) => this.#seen.get(entry.definition.name) !== textOf(entry));
    this.rebase(entries);
    for (const entry of found) {
      const [, app, revision] = /^(.+) revision ([\d.]+)$/.exec(entry.by) ?? [];
      if (app === undefined) continue;
      const word = WORD_OF_REASON[entry.reason ?? ''] ?? (entry.past.length === 0 ? 'made' : 'changed');
      const { name } = entry.definition;
      const key = keyOf({ app, revision: Number(revision), cron: name, word });
      this.#pending.push({ text: `${name} was ${word} by ${entry.by}`, key, writer, toldUntil: now + this.patienceMs });
    }
    return found;
  }

  /** What there is now is no change. */
  rebase(entries: readonly CatalogEntry[]): void {
    this.#seen.clear();
    for (const entry of entries) this.#seen.set(entry.definition.name, textOf(entry));
  }

  heard(event: EventName, detail: unknown): void {
    const word = WORD_OF_EVENT[event];
    if (word === undefined) return;
    const { app, revision, crons } = detail as Events['catalog.changed'];
    for (const cron of crons) {
      const key = keyOf({ app, revision, cron, word });
      const at = this.#pending.findIndex((pending) => pending.key === key);
      if (at >= 0) this.#pending.splice(at, 1);
    }
  }

  /** Those that should have been told by now. A pod that cannot go on has time until it can again. */
  judge(now: number, isHealthy: (process: SimProcess) => boolean): void {
    for (const pending of [...this.#pending]) {
      const { writer, text } = pending;
      const isDead = writer?.state === 'dead';
      if (!isDead && writer !== null && !isHealthy(writer)) pending.toldUntil = now + this.patienceMs;
      if (!isDead && now < pending.toldUntil) continue;
      this.#pending.splice(this.#pending.indexOf(pending), 1);
      if (isDead) this.untold += 1;
      else this.silent.push(text);
    }
  }
}

/** Without its number: a catalog that was lost counts anew. */
function textOf({ definition, state, by, reason, since }: CatalogEntry): string {
  return JSON.stringify([definition, state, by, reason, since]);
}

function keyOf({
  app,
  revision,
  cron,
  word,
}: Readonly<Record<'app' | 'cron' | 'word', string>> & { revision: number }) {
  return `${word} ${cron} by ${app} ${revision}`;
}
