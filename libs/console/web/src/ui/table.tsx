import type { ComponentChildren } from 'preact';
import { WORDS } from '../words.js';

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => ComponentChildren;
  /** Right-aligned, with digits of one width. */
  readonly numeric?: boolean;
  /** What a row is called: its header cell, and the title of its card on a phone. */
  readonly heads?: boolean;
  /** Of a column that the list can be sorted by. */
  readonly sorts?: Sorting;
}

export interface Sorting {
  /** `undefined`: it is not what the list is sorted by. */
  readonly direction: 'ascending' | 'descending' | undefined;
  readonly onSort: () => void;
}

interface TableProps<Row> {
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  readonly marked?: (row: Row) => boolean;
}

/** A table; on a phone each row is a card. The roles are said, because a browser forgets them where `display` changes. */
export function Table<Row>({ caption, columns, rows, keyOf, marked }: TableProps<Row>) {
  return (
    <table role="table">
      <caption class="hidden">{caption}</caption>
      <thead role="rowgroup">
        <tr role="row">
          {columns.map((column) => (
            <Head key={column.title} column={column} />
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((row) => (
          <tr key={keyOf(row)} role="row" class={marked?.(row) ? 'marked' : ''}>
            {columns.map((column) => (
              <Cell key={column.title} column={column} row={row} />
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Head<Row>({ column: { title, numeric, sorts } }: { readonly column: Column<Row> }) {
  return (
    <th role="columnheader" scope="col" class={numeric ? 'numeric' : ''} aria-sort={sorts?.direction}>
      {sorts ? (
        <button type="button" class="sort" onClick={sorts.onSort}>
          {title} <span aria-hidden="true">{sorts.direction ? ARROWS[sorts.direction] : ''}</span>
        </button>
      ) : (
        title
      )}
    </th>
  );
}

const ARROWS = { ascending: '▲', descending: '▼' } as const;

interface CellProps<Row> {
  readonly column: Column<Row>;
  readonly row: Row;
}

function Cell<Row>({ column: { title, cell, numeric, heads }, row }: CellProps<Row>) {
  const content = cell(row);
  if (heads) {
    return (
      <th role="rowheader" scope="row">
        {content}
      </th>
    );
  }
  return (
    <td role="cell" data-label={title} class={numeric ? 'numeric' : ''}>
      {content ?? <None />}
    </td>
  );
}

export function None() {
  return (
    <span class="quiet" aria-label={WORDS.list.none}>
      –
    </span>
  );
}
