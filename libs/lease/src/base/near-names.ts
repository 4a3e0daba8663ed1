const MAX_SUGGESTIONS = 5;

/**
 * Names that a mistyped one may be meant as, the likeliest first: those that contain it or that it contains, and those at
 * most a third of its letters, or two, away (Levenshtein's distance).
 */
export function nearNames(asked: string, names: readonly string[]): string[] {
  const word = asked.toLowerCase();
  const most = Math.max(2, Math.floor(word.length / 3));
  return names
    .map((name) => ({ name, distance: distanceOf(word, name.toLowerCase(), most) }))
    .filter(({ distance }) => distance <= most)
    .toSorted((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1))
    .slice(0, MAX_SUGGESTIONS)
    .map(({ name }) => name);
}

function distanceOf(asked: string, name: string, most: number): number {
  const [shorter, longer] = asked.length < name.length ? [asked, name] : [name, asked];
  if (shorter.length > 2 && longer.includes(shorter)) return 0;
  // Two names whose lengths differ by more than that are far apart: most of a long list is settled here.
  return longer.length - shorter.length > most ? Infinity : levenshtein(asked, name);
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
export function knownInstead(asked: string, names: readonly string[]): string {
  const [near] = nearNames(asked, names);
  return near === undefined ? `known are ${names.join(', ')}` : `did you mean "${near}"?`;
}
