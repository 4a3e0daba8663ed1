import { questions } from '../../data/questions.js';
import { useResource } from '../../data/resource.js';
import type { JournalEntry, Run } from '../../data/types.js';
import { Instant } from '../../ui/instant.js';
import { Page, Section } from '../../ui/page.js';
import { Empty, Shown } from '../../ui/states.js';
import { WORDS } from '../../words.js';
import { Link } from 'wouter-preact';
import { to } from '../../data/paths.js';
import { Answers } from '../run/answers.js';
import { Failures } from '../runs/failures.js';
import { filterOf, withFilter } from '../runs/run-filter.js';

const { attention: words } = WORDS;
const EVERY_MS = 10_000;
const CONCERNS = new Set(['attempt.uncertain', 'attempt.failed', 'attempt.succeeded', 'attempt.begun']);
const concerns = ({ event }: JournalEntry) => CONCERNS.has(event);

/** Runs that need an operator. */
export function AttentionPage() {
  const uncertain = useResource(questions.runs({ state: ['uncertain'], limit: 50 }), { concerns, everyMs: EVERY_MS });
  return (
    <Page title={words.title} intro={words.intro}>
      <Section title={words.uncertain}>
        <Shown of={uncertain} what={words.uncertainWhat}>
          {({ items, next, complete }) => (
            <>
              <Uncertain runs={items} reload={uncertain.reload} />
              {next === null && complete ? null : (
                <p class="notice">
                  <Link href={withFilter(filterOf(''), { state: 'uncertain' })}>{words.more(items.length)}</Link>
                </p>
              )}
            </>
          )}
        </Shown>
      </Section>
      <Failures />
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
      <Empty title={words.noUncertain}>
        <p>{words.uncertainText}</p>
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

/** One uncertain run with all that a person needs to answer it. */
function Asked({ id, reload }: { readonly id: string; readonly reload: () => void }) {
  const report = useResource(questions.run(id), { concerns: ({ runId }) => runId === id });
  return (
    <Shown of={report} what={WORDS.run.what(id)}>
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
