import type { Catalog, Declaration, DeclaredCron } from '@fencepost/ledger/catalog';

/**
 * Declares what a program has as a new revision, and removes what its revisions before had and this one doesn't: as if all
 * former pods had been gone for the time of a removal.
 */
export async function replaceDefinitions(
  catalog: Pick<Catalog, 'declare' | 'drop' | 'listUndeclared'>,
  declarations: readonly Declaration[],
  { app, revision }: { readonly app: string; readonly revision: number },
): Promise<DeclaredCron[]> {
  const former = Array.from({ length: revision - 1 }, (_, n) => ({ app, revision: n + 1 }));
  const by = { app, revision, gone: former };
  const reply = await catalog.declare(declarations, by);
  for (let after: string | null = null; ;) {
    const { crons, next } = await catalog.listUndeclared(by, after);
    if (crons.length > 0) await catalog.drop(crons, by);
    if (next === null) return reply;
    after = next;
  }
}
