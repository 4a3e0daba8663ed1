export function inBatches<T>(items: readonly T[], most: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / most) }, (_, n) => items.slice(n * most, (n + 1) * most));
}

/** Asks again about the rest until every item has its answer: one call may answer for the first items only, but at least for one. */
export async function untilAnswered<Item, Answer>(
  items: readonly Item[],
  ask: (rest: readonly Item[]) => Promise<readonly Answer[]>,
): Promise<Answer[]> {
  const answers: Answer[] = [];
  while (answers.length < items.length) answers.push(...(await ask(items.slice(answers.length))));
  return answers;
}
