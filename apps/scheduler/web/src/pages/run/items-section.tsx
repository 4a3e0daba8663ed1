import type { Items } from '../../data/types.js';
import { Instant } from '../../ui/instant.js';
import { Section } from '../../ui/page.js';
import { Table, type Column } from '../../ui/table.js';

type Item = Items['open'][number];

const columns = (zone: string | undefined): readonly Column<Item>[] => [
  { title: 'Item', heads: true, cell: ({ key }) => key },
  { title: 'State', cell: ({ state }) => state },
  { title: 'Since', cell: ({ since }) => <Instant at={since} zone={zone} /> },
  { title: 'Failed with', cell: ({ error }) => error },
];

interface ItemsProps {
  readonly items: Readonly<Record<string, Items>>;
  readonly zone: string | undefined;
}

/** How far each `forEach` came, and what is still open of it. */
export function ItemsSection({ items, zone }: ItemsProps) {
  const lists = Object.entries(items);
  if (lists.length === 0) return null;
  return (
    <Section title="Items">
      {lists.map(([name, { done, failed, begun, open }]) => (
        <div key={name}>
          <h3>{name}</h3>
          <p>
            {done.toLocaleString('en')} done, {begun} begun, {failed} failed
          </p>
          {open.length === 0 ? null : (
            <Table caption={`Open items of ${name}`} columns={columns(zone)} rows={open} keyOf={({ key }) => key} />
          )}
        </div>
      ))}
    </Section>
  );
}
