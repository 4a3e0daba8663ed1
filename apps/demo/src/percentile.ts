/** The smallest value that `percent` of all values don't exceed (nearest rank); `null` when there is none. */
export function percentile(values: readonly number[], percent: number): number | null {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)] ?? null;
}
