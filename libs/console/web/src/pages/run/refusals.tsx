import type { JournalEntry, Run, RunReport } from '../../data/types.js';
import { Badge } from '../../ui/badge.js';
import { eventText, fenceIn, isRefusal } from '../../ui/events.js';
import { Instant } from '../../ui/instant.js';
import { Section } from '../../ui/page.js';
import { Table, type Column } from '../../ui/table.js';
import { WORDS } from '../../words.js';
import { acceptedFence, stepText } from './refusal-words.js';

interface RefusalsProps extends Pick<RunReport, 'run' | 'journal'> {
  readonly zone: string | undefined;
}

/** What the ledger did not take from stale attempts: the proof that they changed nothing. */
export function Refusals({ run, journal, zone }: RefusalsProps) {
  const refused = journal.filter(isRefusal);
  return (
    <Section title="Refusals" aside={refused.length === 0 ? null : <Badge tone="bad" text={`${refused.length}`} />}>
      {refused.length === 0 ? (
        <p class="quiet">{WORDS.run.noRefusals}</p>
      ) : (
        <Table
          caption="Refusals, newest first"
          columns={columns(run, zone)}
          rows={refused}
          keyOf={({ id }) => id}
          marked={() => true}
        />
      )}
    </Section>
  );
}

function columns(run: Run, zone: string | undefined): readonly Column<JournalEntry>[] {
  return [
    { title: 'When', heads: true, cell: ({ at }) => <Instant at={at} zone={zone} precise /> },
    { title: 'What was refused', cell: (entry) => <What entry={entry} run={run} /> },
    {
      title: 'Attempt',
      numeric: true,
      cell: ({ detail: { attempt } }) => (typeof attempt === 'number' ? attempt : null),
    },
    { title: 'Its fence', numeric: true, cell: (entry) => fenceIn(entry, 'fence') },
    { title: 'Accepted', numeric: true, cell: (entry) => <Accepted entry={entry} run={run} /> },
    { title: 'Worker', cell: ({ pod }) => pod },
  ];
}

interface EntryProps {
  readonly entry: JournalEntry;
  readonly run: Run;
}

function What({ entry, run }: EntryProps) {
  const isOvertaken = entry.event !== 'attempt.refused' || acceptedFence(entry, run) !== null;
  return (
    <>
      <Badge tone="bad" text="refused" /> {stepText(entry)}
      <small class="under quiet">
        {isOvertaken ? eventText(entry) : 'write refused: its run lease had expired, or its run had ended'}
      </small>
    </>
  );
}

function Accepted({ entry, run }: EntryProps) {
  const accepted = acceptedFence(entry, run);
  if (accepted === null) return <span class="quiet">its own</span>;
  return (
    <>
      {accepted.fence}
      {accepted.now ? <small class="under quiet">current</small> : null}
    </>
  );
}
