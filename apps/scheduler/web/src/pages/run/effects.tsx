import type { Effect } from '../../data/types.js';
import { Badge } from '../../ui/badge.js';
import { Data } from '../../ui/facts.js';
import { Instant } from '../../ui/instant.js';
import { Section } from '../../ui/page.js';
import { Table, type Column } from '../../ui/table.js';

const columns = (zone: string | undefined): readonly Column<Effect>[] => [
  { title: 'Effect', heads: true, cell: ({ name }) => name },
  { title: 'Outcome', cell: (effect) => <OutcomeBadge effect={effect} /> },
  { title: 'Begun', cell: ({ since }) => <Instant at={since} zone={zone} /> },
  { title: 'Ended', cell: ({ finishedAt }) => <Instant at={finishedAt} zone={zone} /> },
  { title: 'Fence', numeric: true, cell: ({ fence }) => fence },
  { title: 'Brought', cell: ({ result, error, name }) => error ?? <Data value={result} label={`Result of ${name}`} /> },
];

interface EffectsProps {
  readonly effects: readonly Effect[];
  readonly zone: string | undefined;
}

export function Effects({ effects, zone }: EffectsProps) {
  return (
    <Section title="Effects">
      {effects.length === 0 ? (
        <p class="quiet">It has begun no effect.</p>
      ) : (
        <Table
          caption="Effects, in the order they were begun"
          columns={columns(zone)}
          rows={effects}
          keyOf={({ name }) => name}
        />
      )}
    </Section>
  );
}

function OutcomeBadge({ effect: { state, unknown } }: { readonly effect: Effect }) {
  if (unknown) return <Badge tone="warn" text="unknown" title="It was begun, and whoever did is gone" />;
  if (state === 'done') return <Badge tone="good" text="done" />;
  return state === 'failed' ? <Badge tone="bad" text="failed" /> : <Badge tone="info" text="begun" />;
}
