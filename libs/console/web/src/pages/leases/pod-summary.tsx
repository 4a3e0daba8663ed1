import { Link } from 'wouter-preact';
import { query } from '../../data/paths.js';
import { questions } from '../../data/questions.js';
import { useResource } from '../../data/resource.js';
import type { JournalEntry, Pod } from '../../data/types.js';
import { now } from '../../time/now.js';
import { Facts, type Fact } from '../../ui/facts.js';
import { Duration } from '../../ui/instant.js';
import { Section } from '../../ui/page.js';
import { Shown } from '../../ui/states.js';
import { WORDS } from '../../words.js';
import { figuresOf, takeoversIn } from './pods.js';

const { leases: words, list } = WORDS;
const HOUR_MS = 3_600_000;
const EVERY_MS = 5_000;
const concerns = ({ event }: JournalEntry) => event.startsWith('lease.');

interface SummaryProps {
  /** `null`: not known. */
  readonly pods: readonly Pod[] | null;
  readonly journal: readonly JournalEntry[] | null;
}

/** Whether all crons are held and evenly, at any number of pods. */
export function PodSummary({ pods, journal }: SummaryProps) {
  // One cron of them is enough to learn how many there are.
  const unheld = useResource(questions.crons({ state: 'unheld', limit: 1 }), { concerns, everyMs: EVERY_MS });
  return (
    <Section title={words.summary}>
      <Shown of={unheld} what={words.summary.toLowerCase()}>
        {({ total }) => <Facts of={[...factsOf(pods, total), takeovers(journal)]} />}
      </Shown>
    </Section>
  );
}

function factsOf(pods: readonly Pod[] | null, unheld: number): Fact[] {
  const { schedulers, workers, held, balance, clockSkewMs, lagMs } = figuresOf(pods ?? []);
  return [
    [words.pods, pods === null ? list.unknown : WORDS.home.podCounts(schedulers, workers)],
    [words.held, pods === null ? list.unknown : held.toLocaleString('en')],
    [
      words.unheld,
      unheld === 0 ? list.none : <Link href={`/${query({ state: 'unheld' })}`}>{words.crons(unheld)}</Link>,
    ],
    [words.balance, balance === null ? list.unknown : words.balanced(balance)],
    [words.clockOffset, clockSkewMs === null ? list.unknown : <Duration ms={clockSkewMs} />],
    [words.loopLag, lagMs === null ? list.unknown : <Duration ms={lagMs} />],
  ];
}

function takeovers(journal: readonly JournalEntry[] | null): Fact {
  if (journal === null) return [words.takeovers, list.unknown];
  const { count, isWhole } = takeoversIn(journal, now.peek() - HOUR_MS);
  return [words.takeovers, isWhole ? count.toLocaleString('en') : words.atLeast(count)];
}
