import type { Catalog, CatalogEntry, DeclaredCron } from '@fencepost/ledger/catalog';
import type { RegistryReading } from '../pods/pod-registry.js';

/**
 * Crons and jobs that a process declares and another app owns. Its workers don't execute their runs, whether a worker of the owner
 * is live or not; see `catalog.foreign`.
 */
export class ForeignNames {
  /** Another set whenever it has changed. */
  #names: ReadonlySet<string>;

  constructor(names: Iterable<string> = []) {
    this.#names = new Set(names);
  }

  get names(): ReadonlySet<string> {
    return this.#names;
  }

  /** As the catalog has answered a declaration. What it was not asked about stays. */
  learn(reply: readonly DeclaredCron[]): void {
    const names = new Set(this.#names);
    for (const { cron, word } of reply) {
      if (word === 'foreign') names.add(cron);
      else names.delete(cron);
    }
    const isSame = names.size === this.#names.size && [...names].every((name) => this.#names.has(name));
    if (!isSame) this.#names = names;
  }
}

/** Who declares, and what. */
interface Declaring {
  readonly app: string;
  readonly declarations: ReadonlyMap<string, unknown>;
}

/** Before anything is declared. Asks the catalog only where pods of another app have been live lately. */
export async function readForeignNames(
  catalog: Pick<Catalog, 'read'>,
  { app: own, declarations }: Declaring,
  { pods, revisions }: Pick<RegistryReading, 'pods' | 'revisions'>,
): Promise<ForeignNames> {
  const names = [...declarations.keys()];
  if (names.length === 0 || ![...pods, ...revisions].some(({ app }) => app !== own)) return new ForeignNames();
  const { entries } = await catalog.read(names);
  return new ForeignNames(entries.filter((entry) => isOfAnother(entry, own)).map(({ definition }) => definition.name));
}

/** Former releases added the path of the program to the name of its package. */
function isOfAnother({ app, revision, state }: CatalogEntry, own: string): boolean {
  if (app === null || app === own || state === 'removed') return false;
  return revision !== null || !app.startsWith(`${own}/`);
}
