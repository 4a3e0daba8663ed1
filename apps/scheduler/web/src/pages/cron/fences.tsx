import { useState } from 'preact/hooks';
import { cronQuestions } from '../../data/questions.js';
import { useResource } from '../../data/resource.js';
import type { CronDetail, JournalEntry } from '../../data/types.js';
import { hasFence, isRefusal } from '../../ui/events.js';
import { Check } from '../../ui/fields.js';
import { JournalTable } from '../../ui/journal-table.js';
import { Section } from '../../ui/page.js';
import { Empty, Shown } from '../../ui/states.js';

/** Who acted under which fence, and whose writes the ledger refused: the proof that a stale pod changed nothing. */
export function Fences({ cron: { name, timeZone } }: { readonly cron: CronDetail }) {
  const [only, setOnly] = useState(false);
  const journal = useResource(cronQuestions.journal(name), { concerns: ({ cron }) => cron === name });
  const shown = (entries: readonly JournalEntry[]) => entries.filter(only ? isRefusal : fenced);
  return (
    <Section title="Fences and refusals" aside={<Check label="Refusals only" checked={only} onChange={setOnly} />}>
      <Shown of={journal} what="the journal">
        {({ items }) =>
          shown(items).length === 0 ? (
            <Empty title={only ? 'Nothing was refused lately' : 'Nothing happened lately'} />
          ) : (
            <JournalTable caption="Fences and refusals, the newest first" entries={shown(items)} zone={timeZone} />
          )
        }
      </Shown>
    </Section>
  );
}

function fenced(entry: JournalEntry): boolean {
  return hasFence(entry) || isRefusal(entry);
}
