import { cronQuestions } from '../../data/questions.js';
import { useResource } from '../../data/resource.js';
import type { CronDetail } from '../../data/types.js';
import { Section } from '../../ui/page.js';
import { RunTable } from '../../ui/run-table.js';
import { Empty, Shown } from '../../ui/states.js';

const SHOWN = 10;

export function CronRuns({ cron: { name, timeZone } }: { readonly cron: CronDetail }) {
  const runs = useResource(cronQuestions.runs(name, SHOWN), { concerns: ({ cron }) => cron === name });
  return (
    <Section title="Latest runs">
      <Shown of={runs} what="its runs">
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="It has not run yet">
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
