import { questions } from '../../data/questions.js';
import { useResource } from '../../data/resource.js';
import type { JournalEntry, Run } from '../../data/types.js';
import { ZoneNote, Instant } from '../../ui/instant.js';
import { Page, Section } from '../../ui/page.js';
import { RunTable } from '../../ui/run-table.js';
import { Empty, Shown } from '../../ui/states.js';
import { RunActions } from '../run/run-actions.js';
import { Link } from 'wouter-preact';
import { to } from '../../data/paths.js';
import { Answers } from '../run/answers.js';

const EVERY_MS = 10_000;
const CONCERNS = new Set(['attempt.uncertain', 'attempt.failed', 'attempt.succeeded', 'attempt.begun']);
const concerns = ({ event }: JournalEntry) => CONCERNS.has(event);

/** Runs that need an operator. */
export function AttentionPage() {
  const uncertain = useResource(questions.runs({ state: ['uncertain'], limit: 50 }), { concerns, everyMs: EVERY_MS });
  const failed = useResource(questions.runs({ state: ['failed'], limit: 50 }), { concerns, everyMs: EVERY_MS });
  return (
    <Page title="Needs action" intro="Runs that need an operator.">
      <Section title="Uncertain">
        <Shown of={uncertain} what="uncertain runs">
          {({ items }) => <Uncertain runs={items} reload={uncertain.reload} />}
        </Shown>
      </Section>
      <Section title="Failed">
        <Shown of={failed} what="failed runs">
          {({ items }) => <Failed runs={items} reload={failed.reload} />}
        </Shown>
      </Section>
    </Page>
  );
}

interface RunsProps {
  readonly runs: readonly Run[];
  readonly reload: () => void;
}

function Uncertain({ runs, reload }: RunsProps) {
  if (runs.length === 0) {
    return (
      <Empty title="No run is uncertain">
        <p>A run waits here when the outcome of an effect is unknown.</p>
      </Empty>
    );
  }
  return (
    <ul class="plain-list">
      {runs.map((run) => (
        <li key={run.id}>
          <Asked id={run.id} reload={reload} />
        </li>
      ))}
    </ul>
  );
}

function Failed({ runs, reload }: RunsProps) {
  if (runs.length === 0) return <Empty title="No run has failed for good" />;
  return (
    <>
      <RunTable
        caption="Failed runs, newest first"
        runs={runs}
        named
        actions={(run) => <RunActions run={run} reload={reload} />}
      />
      <ZoneNote />
    </>
  );
}

/** One uncertain run with all that a person needs to answer it. */
function Asked({ id, reload }: { readonly id: string; readonly reload: () => void }) {
  const report = useResource(questions.run(id), { concerns: ({ runId }) => runId === id });
  return (
    <Shown of={report} what={`the run "${id}"`}>
      {(data) => (
        <article class="asked">
          <p>
            <Link href={to.run(id)}>{data.run.cron}</Link> <Instant at={data.run.scheduledAt} />
          </p>
          <Answers report={data} reload={reload} />
        </article>
      )}
    </Shown>
  );
}
