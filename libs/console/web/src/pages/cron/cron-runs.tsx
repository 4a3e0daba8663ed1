import { Link } from 'wouter-preact';
import { cronQuestions } from '../../data/questions.js';
import { useResource } from '../../data/resource.js';
import type { CronDetail } from '../../data/types.js';
import { Section } from '../../ui/page.js';
import { RunTable } from '../../ui/run-table.js';
import { Empty, Shown } from '../../ui/states.js';
import { WORDS } from '../../words.js';
import { filterOf, withFilter } from '../runs/run-filter.js';

const { cron: words } = WORDS;

interface RunsProps {
  readonly cron: CronDetail;
  readonly limit: number;
}

export function CronRuns({ cron: { name, timeZone }, limit }: RunsProps) {
  const runs = useResource(cronQuestions.runs(name, limit), { concerns: ({ cron }) => cron === name });
  const search = <Link href={withFilter(filterOf(''), { cron: name })}>{words.allRuns}</Link>;
  return (
    <Section title={words.latest} aside={search}>
      <Shown of={runs} what={WORDS.what.runs}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title={words.noRuns}>
              <p>{words.noRunsText}</p>
            </Empty>
          ) : (
            <RunTable caption={words.latest} runs={items} zone={timeZone} />
          )
        }
      </Shown>
    </Section>
  );
}
