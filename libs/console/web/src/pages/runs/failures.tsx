import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { questions } from '../../data/questions.js';
import { useResource } from '../../data/resource.js';
import { may } from '../../data/session.js';
import type { FailureGroup, JournalEntry } from '../../data/types.js';
import { CronNames } from '../../ui/cron-names.js';
import { Instant } from '../../ui/instant.js';
import { Section } from '../../ui/page.js';
import { Empty, Shown } from '../../ui/states.js';
import { Table, type Column } from '../../ui/table.js';
import { WORDS } from '../../words.js';
import { BatchOrder } from './batch-order.js';
import { filterOf, withFilter } from './run-filter.js';

const { runs: words } = WORDS;
const EVERY_MS = 15_000;
const concerns = ({ event }: JournalEntry) => event === 'attempt.failed';

type FailureWords = Parameters<typeof questions.failures>[0];

/** Failed runs by what they failed with: one row however many there are, and one order for all of them. */
export function Failures({ query = {} }: { readonly query?: FailureWords }) {
  const groups = useResource(questions.failures(query), { concerns, everyMs: EVERY_MS, keeps: true });
  const [asked, setAsked] = useState<FailureGroup | null>(null);
  return (
    <Section title={words.failures}>
      <Shown of={groups} what={words.failuresWhat}>
        {({ items, complete }) => (
          <>
            {items.length === 0 ? <Empty title={words.noFailures} /> : <Groups items={items} ask={setAsked} />}
            {complete ? null : <p class="notice">{words.incomplete}</p>}
          </>
        )}
      </Shown>
      {asked === null ? null : <BatchOrder order="retry" runIds={asked.runIds} onClose={() => setAsked(null)} />}
    </Section>
  );
}

interface GroupsProps {
  readonly items: readonly FailureGroup[];
  readonly ask: (group: FailureGroup) => void;
}

function Groups({ items, ask }: GroupsProps) {
  const shown = may('operator') ? [...COLUMNS, actions(ask)] : COLUMNS;
  return (
    <Table caption={words.failuresCaption} columns={shown} rows={items} keyOf={({ fingerprint }) => fingerprint} />
  );
}

const COLUMNS: readonly Column<FailureGroup>[] = [
  {
    title: WORDS.heads.error,
    heads: true,
    cell: ({ error, fingerprint }) => (
      <Link href={withFilter(filterOf(''), { state: 'failed', fingerprint })}>
        {error === '' ? words.noError : error}
      </Link>
    ),
  },
  { title: words.columns.runs, numeric: true, cell: ({ count, complete }) => words.counted(count, complete) },
  { title: words.columns.crons, cell: ({ crons }) => <CronNames names={crons} /> },
  {
    title: words.columns.first,
    cell: ({ firstAt, complete }) => (
      <>
        {complete ? null : `${words.orEarlier} `}
        <Instant at={firstAt} />
      </>
    ),
  },
  { title: words.columns.last, cell: ({ lastAt }) => <Instant at={lastAt} relative /> },
];

function actions(ask: GroupsProps['ask']): Column<FailureGroup> {
  return {
    title: WORDS.heads.actions,
    cell: (group) => (
      <button type="button" onClick={() => ask(group)}>
        {words.button(words.verbs.retry, group.runIds.length)}
      </button>
    ),
  };
}
