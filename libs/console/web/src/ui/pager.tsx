interface PagerProps {
  readonly offset: number;
  readonly limit: number;
  readonly total: number;
  readonly onGo: (offset: number) => void;
}

export function Pager({ offset, limit, total, onGo }: PagerProps) {
  if (total <= limit && offset === 0) return null;
  const last = Math.min(total, offset + limit);
  return (
    <nav class="pager" aria-label="More of the list">
      <button type="button" disabled={offset === 0} onClick={() => onGo(Math.max(0, offset - limit))}>
        Previous
      </button>
      <span>
        {total === 0 ? 0 : offset + 1}–{last} of {total.toLocaleString('en')}
      </span>
      <button type="button" disabled={last >= total} onClick={() => onGo(offset + limit)}>
        Next
      </button>
    </nav>
  );
}
