/** What everything beyond the bound is called. */
const REST = 'other';

/**
 * Lets the first `most` distinct values through and calls the rest `other`. A time series is kept for ever by whoever
 * counts, so a label whose values come from outside would fill the memory of the process and of Prometheus.
 * @param seen shared by all that count in one registry
 */
export function boundedLabels(most: number, seen: Set<string>): (value: string) => string {
  return (value) => {
    if (seen.has(value)) return value;
    if (seen.size >= most) return REST;
    seen.add(value);
    return value;
  };
}
