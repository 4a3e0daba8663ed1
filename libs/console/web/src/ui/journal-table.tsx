import { Link } from 'wouter-preact';
import type { JournalEntry } from '../data/types.js';
import { to } from '../data/paths.js';
import { Badge } from './badge.js';
import { detailText, eventText, fenceIn, isRefusal } from './events.js';
import { Instant } from './instant.js';
import { Table, type Column } from './table.js';
import { WORDS } from '../words.js';

const { heads } = WORDS;

interface JournalTableProps {
  readonly caption: string;
  readonly entries: readonly JournalEntry[];
  readonly zone?: string | undefined;
  /** With the name of the cron, where there are several. */
  readonly named?: boolean;
}

/** What happened, the newest first; refusals stand out with a word and not with a colour alone. */
export function JournalTable({ caption, entries, zone, named }: JournalTableProps) {
  const [when, ...others] = columns(zone);
  const shown = when && named ? [when, CRON, ...others] : columns(zone);
  return <Table caption={caption} columns={shown} rows={entries} keyOf={({ id }) => id} marked={isRefusal} />;
}

const CRON: Column<JournalEntry> = {
  title: heads.cron,
  cell: ({ cron }) => cron && <Link href={to.cron(cron)}>{cron}</Link>,
};

function columns(zone: string | undefined): readonly Column<JournalEntry>[] {
  return [
    { title: heads.when, heads: true, cell: ({ at }) => <Instant at={at} zone={zone} /> },
    { title: heads.event, cell: (entry) => <What entry={entry} /> },
    { title: heads.fence, numeric: true, cell: (entry) => fenceIn(entry, 'fence') },
    { title: heads.accepted, numeric: true, cell: (entry) => fenceIn(entry, 'accepted') },
    { title: heads.pod, cell: ({ pod }) => pod },
  ];
}

const SHOWN_ELSEWHERE = ['fence', 'accepted', 'holder', 'worker'];

function What({ entry }: { readonly entry: JournalEntry }) {
  const more = detailText(entry, SHOWN_ELSEWHERE);
  return (
    <>
      {isRefusal(entry) ? <Badge tone="bad" text={WORDS.run.refused.badge} /> : null} {eventText(entry)}
      {more === '' ? null : <small class="under quiet clipped">{more}</small>}
    </>
  );
}
