const MAX_SUGGESTIONS = 5;

/**
 * Suggestions for a mistyped name, the likeliest first: names that contain it or that it contains, and names within
 * a Levenshtein distance of a third of its letters, at least two.
 */
export function nearNames(mistyped: string, names: readonly string[]): string[] {
  const word = mistyped.toLowerCase();
  const max = Math.max(2, Math.floor(word.length / 3));
  return names
    .map((name) => ({ name, distance: distanceOf(word, name.toLowerCase(), max) }))
    .filter(({ distance }) => distance <= max)
    .toSorted((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1))
    .slice(0, MAX_SUGGESTIONS)
    .map(({ name }) => name);
}

function distanceOf(word: string, name: string, max: number): number {
  const [shorter, longer] = word.length < name.length ? [word, name] : [name, word];
  if (shorter.length > 2 && longer.includes(shorter)) return 0;
  // A cheap lower bound of the distance, which settles max of a long list.
  return longer.length - shorter.length > max ? Infinity : levenshtein(word, name);
}

function levenshtein(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const substituted = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(substituted, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

/** How a sentence about an unknown name goes on: the name that is meant, or all there are. */
export function knownInstead(mistyped: string, names: readonly string[]): string {
  const [near] = nearNames(mistyped, names);
  return near === undefined ? `known are ${names.join(', ')}` : `did you mean "${near}"?`;
}
