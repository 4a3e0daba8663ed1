import type { Term } from './grant.js';

/** How a store that several servers keep is asked, and what is done for a term that is the current one. */
export interface EachOwn<Server, Seen> {
  /** Lets a flow ask one server, and all of it another one when that fails. */
  readonly ask: (flow: (server: Server) => Promise<void>) => Promise<void>;
  /** What holds the resource of each term now; in their order. */
  readonly look: (server: Server, terms: readonly Term[]) => Promise<readonly (Seen | undefined)[]>;
  readonly act: (server: Server, seen: Seen) => Promise<boolean>;
}

/**
 * Acts for each term that is the current one, and answers `false` for the others. In the order given.
 * @throws what asking throws; a flow that begins anew keeps the replies so far, as a term that is released would seem stale
 */
export async function eachOwn<Server, Seen extends Pick<Term, 'nonce'>>(
  terms: readonly Term[],
  { ask, look, act }: EachOwn<Server, Seen>,
): Promise<boolean[]> {
  const known = new Map<number, boolean>();
  await ask(async (server) => {
    const open = [...terms.entries()].filter(([n]) => !known.has(n));
    const found = await look(
      server,
      open.map(([, term]) => term),
    );
    const acting = open.map(async ([n, { nonce }], place) => {
      const seen = found[place];
      known.set(n, seen?.nonce === nonce && (await act(server, seen)));
    });
    await allDone(acting);
  });
  return terms.map((_, n) => known.get(n) ?? false);
}

/** Unlike `Promise.all`, waits for all before it throws, so that no call is in progress when the failed one is retried. */
async function allDone(doing: readonly Promise<void>[]): Promise<void> {
  const failed = (await Promise.allSettled(doing)).find((outcome) => outcome.status === 'rejected');
  if (failed) throw failed.reason;
}
