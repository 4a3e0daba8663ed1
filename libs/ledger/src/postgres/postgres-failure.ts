/** A serialization failure and a deadlock: nothing was done, and the same statement may be sent again. */
const ASK_AGAIN = new Set(['40001', '40P01']);
const MAX_TRIES = 20;

/** The five characters by which PostgreSQL tells its errors apart. */
export function sqlState(error: unknown): string | undefined {
  const code = typeof error === 'object' && error !== null ? Reflect.get(error, 'code') : undefined;
  return typeof code === 'string' ? code : undefined;
}

/** A value that can't be one, or a row that can't be: whoever sends the same again is refused again. */
function isAboutRequest(error: unknown): boolean {
  return /^2[23]/.test(sqlState(error) ?? '');
}

/**
 * Asks again where the server gave up on a statement because of somebody else's.
 *
 * A deadlock takes somebody's own transaction that asks for runs of several crons; a serialization failure takes a database
 * or a role with REPEATABLE READ or SERIALIZABLE as its default.
 */
export async function askAgain<T>(ask: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await ask();
    } catch (error) {
      if (!ASK_AGAIN.has(sqlState(error) ?? '') || tries === MAX_TRIES) throw error;
    }
  }
}

/** One call for all items; where the server refuses a value or a row, one for each, so that only the item it is about is rejected. */
export async function askEach<Item, Answer>(
  items: readonly Item[],
  ask: (items: readonly Item[]) => Promise<readonly Answer[]>,
): Promise<PromiseSettledResult<Answer>[]> {
  try {
    return (await ask(items)).map((value) => ({ status: 'fulfilled', value }));
  } catch (reason) {
    if (items.length === 1 || !isAboutRequest(reason)) return items.map(() => ({ status: 'rejected', reason }));
    return (await Promise.all(items.map((item) => askEach([item], ask)))).flat();
  }
}
