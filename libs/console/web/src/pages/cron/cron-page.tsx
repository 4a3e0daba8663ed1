import { useLocation, useSearch, Link } from 'wouter-preact';
import { to } from '../../data/paths.js';
import type { AuditRecord, CronDetail, JournalEntry } from '../../data/types.js';
import { cronQuestions, questions } from '../../data/questions.js';
import { useResource } from '../../data/resource.js';
import { StateBadge } from '../../ui/badge.js';
import { Facts } from '../../ui/facts.js';
import { Instant, Left } from '../../ui/instant.js';
import { Page, Section } from '../../ui/page.js';
import { Shown, Empty } from '../../ui/states.js';
import { CronActions } from './cron-actions.js';
import { Definition } from './definition.js';
import { TimelineSection } from './timeline-section.js';
import { WhyBox } from './why-box.js';
import { RunTable } from '../../ui/run-table.js';
import { Table, type Column } from '../../ui/table.js';
import { useState } from 'preact/hooks';
import { hasFence, isRefusal } from '../../ui/events.js';
import { Check } from '../../ui/fields.js';
import { JournalTable } from '../../ui/journal-table.js';

/** What people do is no event. */
const ORDERS = { limit: 50, everyMs: 10_000 };

function DoneByPeople({ cron }: { readonly cron: CronDetail }) {
  const { name, timeZone } = cron;
  const { limit, everyMs } = ORDERS;
  const records = useResource(questions.audit({ cron: name, limit }), { everyMs });
  return (
    <Section title="Orders">
      <Shown of={records} what="the audit trail">
        {({ items }) =>
          items.length === 0 ? (
            <p class="quiet">No orders yet.</p>
          ) : (
            <Table caption="Orders" columns={columns(timeZone)} rows={items} keyOf={({ id }) => id} />
          )
        }
      </Shown>
    </Section>
  );
}

function columns(zone: string): readonly Column<AuditRecord>[] {
  return [
    { title: 'When', heads: true, cell: ({ at }) => <Instant at={at} zone={zone} /> },
    { title: 'What', cell: ({ action }) => action },
    { title: 'Who', cell: ({ by }) => by },
    { title: 'Why', cell: ({ reason }) => reason },
    { title: 'Run', cell: ({ runId }) => runId && <Link href={to.run(runId)}>{runId}</Link> },
  ];
}

const SHOWN = 10;

function CronRuns({ cron: { name, timeZone } }: { readonly cron: CronDetail }) {
  const runs = useResource(cronQuestions.runs(name, SHOWN), { concerns: ({ cron }) => cron === name });
  return (
    <Section title="Latest runs">
      <Shown of={runs} what="its runs">
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="No runs yet">
              <p>Wait for its next instant, or run it now.</p>
            </Empty>
          ) : (
            <RunTable caption="Latest runs" runs={items} zone={timeZone} />
          )
        }
      </Shown>
    </Section>
  );
}

const EVERY_MS = 5_000;

export function CronPage({ name }: { readonly name: string }) {
  const concerns = ({ cron }: JournalEntry) => cron === name;
  const detail = useResource(cronQuestions.detail(name), { concerns, everyMs: EVERY_MS });
  return (
    <Page title={name}>
      <Shown of={detail} what={`the cron "${name}"`}>
        {(cron) => <Known cron={cron} at={detail.at} reload={detail.reload} />}
      </Shown>
    </Page>
  );
}

interface KnownProps {
  readonly cron: CronDetail;
  readonly at: number;
  readonly reload: () => void;
}

function Known({ cron, at, reload }: KnownProps) {
  const asked = new URLSearchParams(useSearch()).get('at');
  const [, go] = useLocation();
  const ask = (instant: string) => go(to.cron(cron.name, instant), { replace: true });
  return (
    <>
      <CronActions cron={cron} reload={reload} />
      {cron.paused ? <PausedNotice cron={cron} /> : null}
      <Glance cron={cron} at={at} />
      <TimelineSection {...{ cron, asked, ask }} />
      <WhyBox {...{ cron, asked, ask }} />
      <CronRuns cron={cron} />
      <Fences cron={cron} />
      <Definition cron={cron} />
      <DoneByPeople cron={cron} />
    </>
  );
}

function PausedNotice({ cron: { paused, timeZone } }: { readonly cron: CronDetail }) {
  if (!paused) return null;
  return (
    <p class="notice warn">
      <strong>Paused</strong> by {paused.by} since <Instant at={paused.since} zone={timeZone} />
      {paused.until ? (
        <>
          {' '}
          until <Instant at={paused.until} zone={timeZone} />
        </>
      ) : (
        ' until it is resumed'
      )}
      : {paused.reason}
    </p>
  );
}

function Glance({ cron, at }: { readonly cron: CronDetail; readonly at: number }) {
  const { description, expression, timeZone, next, holder, fence, leaseLeftMs, refusals } = cron;
  return (
    <Section title="Now" aside={<StateBadge cron={cron} />}>
      <Facts
        of={[
          ['Schedule', description],
          ['Expression', <code>{expression}</code>],
          ['Zone', timeZone],
          ['Next', next && <Instant at={next} zone={timeZone} relative />],
          ['Holder', holder],
          ['Fence', fence],
          ['Lease left', leaseLeftMs === null ? null : <Left ms={leaseLeftMs} at={at} />],
          ['Refused claims', refusals],
        ]}
      />
    </Section>
  );
}

/** Who acted under which fence, and whose writes the ledger refused: the proof that a stale pod changed nothing. */
function Fences({ cron: { name, timeZone } }: { readonly cron: CronDetail }) {
  const [only, setOnly] = useState(false);
  const journal = useResource(cronQuestions.journal(name), { concerns: ({ cron }) => cron === name });
  const shown = (entries: readonly JournalEntry[]) => entries.filter(only ? isRefusal : fenced);
  return (
    <Section title="Fences and refusals" aside={<Check label="Refusals only" checked={only} onChange={setOnly} />}>
      <Shown of={journal} what="the journal">
        {({ items }) =>
          shown(items).length === 0 ? (
            <Empty title={only ? 'No recent refusals' : 'No recent events'} />
          ) : (
            <JournalTable caption="Fences and refusals, newest first" entries={shown(items)} zone={timeZone} />
          )
        }
      </Shown>
    </Section>
  );
}

function fenced(entry: JournalEntry): boolean {
  return hasFence(entry) || isRefusal(entry);
}
