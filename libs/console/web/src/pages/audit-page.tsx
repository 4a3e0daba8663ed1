import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { to } from '../data/paths.js';
import { questions } from '../data/questions.js';
import { useResource } from '../data/resource.js';
import type { AuditRecord } from '../data/types.js';
import { CronNames } from '../ui/cron-names.js';
import { Data } from '../ui/facts.js';
import { Instant, ZoneNote } from '../ui/instant.js';
import { Page, Section } from '../ui/page.js';
import { CursorPager } from '../ui/pager.js';
import { Empty, Shown } from '../ui/states.js';
import { Table, type Column } from '../ui/table.js';
import { WORDS } from '../words.js';

const { audit: words, heads } = WORDS;
const PER_PAGE = 50;
const EVERY_MS = 10_000;

/** Older pages by cursor: while one reads, new records come in above. */
export function AuditPage() {
  const [pages, setPages] = useState<readonly string[]>([]);
  const cursor = pages.at(-1);
  const question = questions.audit({ limit: PER_PAGE, ...(cursor !== undefined && { cursor }) });
  const records = useResource(question, { everyMs: EVERY_MS, keeps: true });
  return (
    <Page title={words.title}>
      <Section title={words.changes}>
        <Shown of={records} what={WORDS.what.audit}>
          {({ items, next }) => <Records {...{ items, next, pages, setPages }} />}
        </Shown>
      </Section>
    </Page>
  );
}

interface RecordsProps {
  readonly items: readonly AuditRecord[];
  readonly next: string | null;
  /** The cursors that led to this page. */
  readonly pages: readonly string[];
  readonly setPages: (pages: readonly string[]) => void;
}

function Records({ items, next, pages, setPages }: RecordsProps) {
  return (
    <>
      {items.length === 0 ? (
        <Empty title={words.none}>
          <p>{words.noneText}</p>
        </Empty>
      ) : (
        <Table caption={words.newest} columns={COLUMNS} rows={items} keyOf={({ id }) => id} />
      )}
      <CursorPager {...{ pages, next }} onGo={setPages} />
      <ZoneNote />
    </>
  );
}

const COLUMNS: readonly Column<AuditRecord>[] = [
  { title: heads.when, heads: true, cell: ({ at }) => <Instant at={at} /> },
  { title: words.who, cell: ({ by, role, from }) => <Who {...{ by, role, from }} /> },
  { title: heads.action, cell: ({ action }) => action },
  { title: words.target, cell: (record) => <About record={record} /> },
  { title: heads.reason, cell: ({ reason }) => reason },
  { title: words.change, cell: (record) => <Change record={record} /> },
];

function Who({ by, role, from }: Pick<AuditRecord, 'by' | 'role' | 'from'>) {
  return (
    <>
      {by} <small class="quiet">({role})</small>
      {from === null ? null : <small class="under quiet">{words.from(from)}</small>}
    </>
  );
}

function About({ record: { cron, runId, crons } }: { readonly record: AuditRecord }) {
  if (crons.length > 0) return <CronNames names={crons} />;
  if (runId !== null) return <Link href={to.run(runId)}>{runId}</Link>;
  return cron === null ? null : <Link href={to.cron(cron)}>{cron}</Link>;
}

function Change({ record: { before, after, at } }: { readonly record: AuditRecord }) {
  return (
    <details>
      <summary>{words.show}</summary>
      <Data value={before} label={words.before(at)} /> → <Data value={after} label={words.after(at)} />
    </details>
  );
}
