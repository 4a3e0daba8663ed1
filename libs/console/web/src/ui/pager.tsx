import { WORDS } from '../words.js';

const { list: words } = WORDS;

interface CursorPagerProps {
  readonly pages: readonly string[];
  readonly next: string | null;
  readonly onGo: (pages: readonly string[]) => void;
}

/** Page after page, by the cursors that led to each. */
export function CursorPager({ pages, next, onGo }: CursorPagerProps) {
  if (pages.length === 0 && next === null) return null;
  return (
    <nav class="pager" aria-label={words.more}>
      <button type="button" disabled={pages.length === 0} onClick={() => onGo(pages.slice(0, -1))}>
        {words.previous}
      </button>
      <span>{words.page(pages.length + 1)}</span>
      <button type="button" disabled={next === null} onClick={() => next !== null && onGo([...pages, next])}>
        {words.next}
      </button>
    </nav>
  );
}
