import { Link } from 'wouter-preact';
import { to } from '../../data/paths.js';
import { questions } from '../../data/questions.js';
import { useResource } from '../../data/resource.js';
import { Instant } from '../../ui/instant.js';
import { Shown } from '../../ui/states.js';
import { Answers } from '../run/answers.js';

/** One uncertain run with all that a person needs to answer it. */
export function Asked({ id, reload }: { readonly id: string; readonly reload: () => void }) {
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
