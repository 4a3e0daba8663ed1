import { query } from '../../data/paths.js';
import { WORDS } from '../../words.js';

/** What the list shows, as it stands in the address. An empty text: not set. */
export interface View {
  readonly search: string;
  readonly state: string;
  readonly tag: string;
  readonly holder: string;
  /** Failing for at least this long, such as `24h`. */
  readonly failing: string;
  readonly sort: string;
  readonly order: string;
  readonly cursor: string;
}

const KEYS = ['search', 'state', 'tag', 'holder', 'failing', 'sort', 'order', 'cursor'] as const;

const SORTS = ['attention', 'name', 'next', 'duration', 'delay'] as const;
export type Sort = (typeof SORTS)[number];

/** Milliseconds of the choices of `failing`. */
const FAILING: Readonly<Record<string, number>> = { '1h': 3_600_000, '24h': 86_400_000, '7d': 604_800_000 };

export function viewIn(search: string): View {
  const words = new URLSearchParams(search);
  return Object.fromEntries(KEYS.map((key) => [key, words.get(key) ?? ''])) as unknown as View;
}

/** The address of a view, without its place in the list where `cursor` is not part of it. */
export function addressOf(view: Partial<View>): string {
  return `/${query(view)}`;
}

/** Only what is set and known: an empty word is no word. */
export function asked(view: View, limit: number, now: number) {
  const { search, tag, holder, cursor } = view;
  const [state] = WORDS.home.states.find(([one]) => one === view.state) ?? [];
  const sort = SORTS.find((one) => one === view.sort);
  const order = (['asc', 'desc'] as const).find((one) => one === view.order);
  const failingMs = FAILING[view.failing];
  return {
    limit,
    ...Object.fromEntries(Object.entries({ search, tag, holder, cursor }).filter(([, word]) => word !== '')),
    ...(state && { state }),
    ...(sort && { sort }),
    ...(order && { order }),
    ...(failingMs !== undefined && { failingSince: wholeMinute(now - failingMs) }),
  };
}

/** So that the same question is asked for a minute, and not another one each second. */
function wholeMinute(at: number): string {
  return new Date(Math.floor(at / 60_000) * 60_000).toISOString();
}

/** What a sort begins with unless it is turned round: the worst, the soonest, the slowest. */
function usualOrder(sort: Sort): 'asc' | 'desc' {
  return sort === 'duration' || sort === 'delay' ? 'desc' : 'asc';
}

/** Where a column that is chosen leads: to its sort, or to the other way round. */
export function sortedBy(view: View, sort: Sort): Pick<View, 'sort' | 'order' | 'cursor'> {
  const isCurrent = (view.sort || 'attention') === sort;
  const other = usualOrder(sort) === 'asc' ? 'desc' : 'asc';
  const order = isCurrent && view.order !== other ? other : '';
  return { sort: sort === 'attention' ? '' : sort, order, cursor: '' };
}

/** How a sorted column goes, as `aria-sort` has it. */
export function directionOf(view: View, sort: Sort): 'ascending' | 'descending' | undefined {
  if ((view.sort || 'attention') !== sort) return undefined;
  return (view.order || usualOrder(sort)) === 'asc' ? 'ascending' : 'descending';
}
