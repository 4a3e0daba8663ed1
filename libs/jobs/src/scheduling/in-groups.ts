/** A pod that takes over a thousand crons must not flood its store. */
const AT_ONCE = 50;

/** Runs `work` for each item, at most 50 at a time. */
export async function inGroups<T>(items: Iterable<T>, work: (item: T) => Promise<void>): Promise<void> {
  const rest = items[Symbol.iterator]();
  const worker = async () => {
    for (let next = rest.next(); next.done !== true; next = rest.next()) await work(next.value);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}
