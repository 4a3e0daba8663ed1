export interface Range {
  readonly least: number;
  readonly most: number;
}

export function between({ least, most }: Range, random: () => number): number {
  return least + random() * (most - least);
}

export function oneOf<T>(choices: readonly T[], random: () => number): T | undefined {
  return choices[Math.floor(random() * choices.length)];
}

/** The same items in an order that the numbers decide. */
export function shuffled<T>(items: readonly T[], random: () => number): T[] {
  const order = items.map((item) => ({ item, at: random() }));
  return order.toSorted((a, b) => a.at - b.at).map(({ item }) => item);
}
