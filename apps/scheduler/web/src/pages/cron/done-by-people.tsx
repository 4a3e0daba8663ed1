import { Link } from 'wouter-preact';
import { to } from '../../data/paths.js';
import { cronQuestions } from '../../data/questions.js';
import { useResource } from '../../data/resource.js';
import type { CronDetail, OperatorAction } from '../../data/types.js';
import { Instant } from '../../ui/instant.js';
import { Section } from '../../ui/page.js';
import { Shown } from '../../ui/states.js';
import { Table, type Column } from '../../ui/table.js';

/** What people do is no event. */
const EVERY_MS = 10_000;

export function DoneByPeople({ cron }: { readonly cron: CronDetail }) {
  const { name, timeZone } = cron;
  const actions = useResource(cronQuestions.actions(name), { everyMs: EVERY_MS });
  return (
    <Section title="Done by people">
      <Shown of={actions} what="what was done">
        {({ items }) =>
          items.length === 0 ? (
            <p class="quiet">Nobody has done anything to it by hand.</p>
          ) : (
            <Table
              caption="Done by people"
              columns={columns(timeZone)}
              rows={items}
              keyOf={({ at, action, runId }) => `${at} ${action} ${runId}`}
            />
          )
        }
      </Shown>
    </Section>
  );
}

function columns(zone: string): readonly Column<OperatorAction>[] {
  return [
    { title: 'When', heads: true, cell: ({ at }) => <Instant at={at} zone={zone} /> },
    { title: 'What', cell: ({ action }) => action },
    { title: 'Who', cell: ({ by }) => by },
    { title: 'Why', cell: ({ reason }) => reason },
    { title: 'Run', cell: ({ runId }) => runId && <Link href={to.run(runId)}>{runId}</Link> },
  ];
}
