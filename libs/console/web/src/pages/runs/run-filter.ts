import type { RunWords } from '../../data/questions.js';
import type { Run } from '../../data/types.js';

/** What the page is asked for, as its address has it. Every part is a text, and empty where it is not asked for. */
export const FILTERS = [
  ...([
    'state',
    'cron',
    'tag',
    'from',
    'to',
    'seconds',
    'attempts',
    'error',
    'worker',
    'fingerprint',
    'cursor',
  ] as const),
] as const;

export type FilterName = (typeof FILTERS)[number];
export type RunFilter = Readonly<Record<FilterName, string>>;

export const STATES = [
  ...(['failed', 'uncertain', 'running', 'enqueued', 'claimed', 'orphaned'] as const),
  ...(['succeeded', 'cancelled', 'skipped'] as const),
] as const satisfies readonly Run['state'][];

export function filterOf(search: string): RunFilter {
  const words = new URLSearchParams(search);
  return Object.fromEntries(FILTERS.map((name) => [name, words.get(name)?.trim() ?? ''])) as RunFilter;
}

/** Another filter begins at the first page again. */
export function withFilter(filter: RunFilter, change: Partial<RunFilter>): string {
  const words = Object.entries({ ...filter, cursor: '', ...change }).filter(([, value]) => value !== '');
  const text = new URLSearchParams(words).toString();
  return text === '' ? '/runs' : `/runs?${text}`;
}

const LIMIT = 50;

/** What the API is asked; what can't be is left to the API to refuse. */
export function questionOf(filter: RunFilter): RunWords {
  const { state, seconds, attempts, ...others } = filter;
  const texts = Object.fromEntries(Object.entries(others).filter(([, value]) => value !== ''));
  return {
    limit: LIMIT,
    ...texts,
    ...(state !== '' && { state: state.split(',') }),
    ...(seconds !== '' && { minDurationMs: Math.round(Number(seconds) * 1_000) }),
    ...(attempts !== '' && { minAttempts: Number(attempts) }),
  };
}
