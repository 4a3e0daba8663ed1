import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { to } from '../../data/paths.js';
import { cronQuestions, questions } from '../../data/questions.js';
import { useResource } from '../../data/resource.js';
import type { AuditRecord, CronDetail, JournalEntry } from '../../data/types.js';
import { hasFence, isAboutMany, isRefusal } from '../../ui/events.js';
import { Check } from '../../ui/fields.js';
import { Instant } from '../../ui/instant.js';
import { JournalTable } from '../../ui/journal-table.js';
import { Section } from '../../ui/page.js';
import { Empty, Shown } from '../../ui/states.js';
import { Table, type Column } from '../../ui/table.js';
import { WORDS } from '../../words.js';

const { cron: words, heads } = WORDS;

/** What people did is no event, and is asked for by the clock. */
const ORDERS = { limit: 50, everyMs: 10_000 };

export function ActivityTab({ cron }: { readonly cron: CronDetail }) {
  return (
    <>
      <Orders cron={cron} />
      <Fences cron={cron} />
    </>
  );
}

function Orders({ cron: { name, timeZone } }: { readonly cron: CronDetail }) {
  const { limit, everyMs } = ORDERS;
  const records = useResource(questions.audit({ cron: name, limit }), { everyMs });
  return (
    <Section title={words.orders}>
      <Shown of={records} what={WORDS.what.audit}>
        {({ items }) =>
          items.length === 0 ? (
            <p class="quiet">{words.noOrders}</p>
          ) : (
            <Table caption={words.orders} columns={columns(timeZone)} rows={items} keyOf={({ id }) => id} />
          )
        }
      </Shown>
    </Section>
  );
}

function columns(zone: string): readonly Column<AuditRecord>[] {
  return [
    { title: heads.when, heads: true, cell: ({ at }) => <Instant at={at} zone={zone} /> },
    { title: heads.action, cell: ({ action }) => action },
    { title: heads.by, cell: ({ by }) => by },
    { title: heads.reason, cell: ({ reason }) => reason },
    { title: heads.run, cell: ({ runId }) => runId && <Link href={to.run(runId)}>{runId}</Link> },
  ];
}

/** Who acted under which fence, and whose writes the ledger refused: the proof that a stale pod changed nothing. */
function Fences({ cron: { name, timeZone } }: { readonly cron: CronDetail }) {
  const [only, setOnly] = useState(false);
  const journal = useResource(cronQuestions.journal(name), { concerns: ({ cron }) => cron === name });
  const shown = (entries: readonly JournalEntry[]) => entries.filter(only ? isRefusal : fenced);
  return (
    <Section title={words.fences} aside={<Check label={words.refusalsOnly} checked={only} onChange={setOnly} />}>
      <Shown of={journal} what={WORDS.what.journal}>
        {({ items }) =>
          shown(items).length === 0 ? (
            <Empty title={only ? words.noRefusals : words.noEvents} />
          ) : (
            <JournalTable caption={words.fencesCaption} entries={shown(items)} zone={timeZone} />
          )
        }
      </Shown>
    </Section>
  );
}

function fenced(entry: JournalEntry): boolean {
  return hasFence(entry) || isRefusal(entry) || isAboutMany(entry);
}
