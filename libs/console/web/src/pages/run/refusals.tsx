import type { JournalEntry, Run, RunReport } from '../../data/types.js';
import { Badge } from '../../ui/badge.js';
import { eventText, fenceIn, isRefusal } from '../../ui/events.js';
import { Instant } from '../../ui/instant.js';
import { Section } from '../../ui/page.js';
import { Table, type Column } from '../../ui/table.js';
import { WORDS } from '../../words.js';
import { acceptedFence, stepText } from './refusal-words.js';

const { run: words, heads } = WORDS;

interface RefusalsProps extends Pick<RunReport, 'run' | 'journal'> {
  readonly zone: string | undefined;
}

/** What the ledger did not take from stale attempts: the proof that they changed nothing. */
export function Refusals({ run, journal, zone }: RefusalsProps) {
  const refused = journal.filter(isRefusal);
  return (
    <Section
      title={words.refusals}
      aside={refused.length === 0 ? null : <Badge tone="bad" text={`${refused.length}`} />}
    >
      {refused.length === 0 ? (
        <p class="quiet">{words.noRefusals}</p>
      ) : (
        <Table
          caption={words.refusalsCaption}
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
    { title: heads.when, heads: true, cell: ({ at }) => <Instant at={at} zone={zone} precise /> },
    { title: words.refused.what, cell: (entry) => <What entry={entry} run={run} /> },
    {
      title: heads.attempt,
      numeric: true,
      cell: ({ detail: { attempt } }) => (typeof attempt === 'number' ? attempt : null),
    },
    { title: words.refused.fence, numeric: true, cell: (entry) => fenceIn(entry, 'fence') },
    { title: heads.accepted, numeric: true, cell: (entry) => <Accepted entry={entry} run={run} /> },
    { title: heads.worker, cell: ({ pod }) => pod },
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
      <Badge tone="bad" text={words.refused.badge} /> {stepText(entry)}
      <small class="under quiet">{isOvertaken ? eventText(entry) : words.refused.expired}</small>
    </>
  );
}

function Accepted({ entry, run }: EntryProps) {
  const accepted = acceptedFence(entry, run);
  if (accepted === null) return <span class="quiet">{words.refused.ownFence}</span>;
  return (
    <>
      {accepted.fence}
      {accepted.now ? <small class="under quiet">{words.refused.current}</small> : null}
    </>
  );
}
