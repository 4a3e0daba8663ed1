/** One line of what the sink has seen; their order is that in which the sink saw them. */
export interface SinkEntry {
  /** `begun`: somebody has looked and is at it. `written`: it has changed the world. */
  readonly kind: 'begun' | 'written';
  /** Names one try of one process; two tries never share it. */
  readonly execution: string;
  /** Epoch milliseconds. */
  readonly instant: number;
}

/** The instants that count, both ends included, epoch milliseconds. */
export interface Span {
  readonly from: number;
  readonly to: number;
  readonly cadenceMs: number;
}

export interface Damage {
  /** Instants of the span. */
  readonly occurrences: number;
  /** Instants of the span that nobody has written. */
  readonly missed: number;
  /** Instants that were written twice or more, in the span or at its edges: there is no excuse for that anywhere. */
  readonly doubled: number;
  /** Writes that came too late, wherever; see {@link staleWrites}. */
  readonly stale: number;
}

function instantsOf({ from, to, cadenceMs }: Span): number[] {
  return Array.from({ length: Math.max(0, (to - from) / cadenceMs + 1) }, (_, n) => from + n * cadenceMs);
}

/**
 * From the instant after the one that comes next until the one before the last: at the edges clocks may not agree, and a
 * schedule may not stand yet.
 */
export function spanBetween(begin: number, end: number, cadenceMs: number): Span {
  const from = (Math.ceil(begin / cadenceMs) + 1) * cadenceMs;
  return { from, to: (Math.floor(end / cadenceMs) - 1) * cadenceMs, cadenceMs };
}

export function countDamage(log: readonly SinkEntry[], span: Span): Damage {
  const times = new Map<number, number>();
  for (const { kind, instant } of log) if (kind === 'written') times.set(instant, (times.get(instant) ?? 0) + 1);
  return {
    occurrences: instantsOf(span).length,
    missed: missing(log, span).length,
    doubled: [...times.values()].filter((count) => count > 1).length,
    stale: staleWrites(log).length,
  };
}

/** Instants of the span that nobody has written yet. */
export function missing(log: readonly SinkEntry[], span: Span): number[] {
  const written = new Set(log.flatMap(({ kind, instant }) => (kind === 'written' ? [instant] : [])));
  return instantsOf(span).filter((instant) => !written.has(instant));
}

/** How many instants up to this one are written, whenever they were due: what is left of them can only become less. */
export function writtenUntil(log: readonly SinkEntry[], last: number): number {
  return new Set(log.flatMap(({ kind, instant }) => (kind === 'written' && instant <= last ? [instant] : []))).size;
}

/**
 * Writes over something newer. One is stale when, before it came, another execution that had begun later than its own had
 * begun the same instant, or had written a later one. Two that merely go on beside each other make nothing stale.
 */
export function staleWrites(log: readonly SinkEntry[]): SinkEntry[] {
  const begunAt = new Map<string, number>();
  return log.filter((entry, at) => {
    if (entry.kind === 'begun') begunAt.set(entry.execution, at);
    const began = begunAt.get(entry.execution) ?? at;
    return entry.kind === 'written' && log.slice(began, at).some((other) => isNewer(other, entry, { began, begunAt }));
  });
}

interface Begun {
  readonly began: number;
  readonly begunAt: ReadonlyMap<string, number>;
}

function isNewer(other: SinkEntry, entry: SinkEntry, { began, begunAt }: Begun): boolean {
  if (other.execution === entry.execution || (begunAt.get(other.execution) ?? -1) < began) return false;
  return other.kind === 'begun' ? other.instant === entry.instant : other.instant > entry.instant;
}
