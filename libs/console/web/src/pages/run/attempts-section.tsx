import type { Run, RunReport } from '../../data/types.js';
import { Badge } from '../../ui/badge.js';
import { Duration, Instant } from '../../ui/instant.js';
import { Section } from '../../ui/page.js';
import { None, Table, type Column } from '../../ui/table.js';
import { attemptsOf, type AttemptEnd, type SeenAttempt } from './attempts.js';
import { fencesText, stepText } from './refusal-words.js';

interface AttemptsProps extends Pick<RunReport, 'run' | 'journal'> {
  readonly zone: string | undefined;
}

/** Each try of the run, as far as its record and the journal still tell. */
export function Attempts({ run, journal, zone }: AttemptsProps) {
  const attempts = attemptsOf(run, journal);
  if (attempts.length === 0) {
    return (
      <Section title="Attempts">
        <p class="quiet">No attempt has started.</p>
      </Section>
    );
  }
  return (
    <Section title="Attempts" aside={<span class="quiet">{run.attempt} in all</span>}>
      <Table
        caption="Attempts, newest first"
        columns={columns(run, zone)}
        rows={attempts}
        keyOf={({ number }) => String(number)}
        marked={({ refusals }) => refusals.length > 0}
      />
      {attempts.every(isWhole) ? null : <Gaps />}
    </Section>
  );
}

function isWhole({ beganAt, endedAt, end }: SeenAttempt): boolean {
  return beganAt !== null && (endedAt !== null || end === 'open');
}

function Gaps() {
  return (
    <p class="quiet">
      A dash marks data that was not recorded or has expired: the journal keeps few ordinary events, and none for ever.
      A killed worker records no end.
    </p>
  );
}

function columns(run: Run, zone: string | undefined): readonly Column<SeenAttempt>[] {
  return [
    {
      title: 'Attempt',
      heads: true,
      cell: ({ first, number }) => (first === number ? number : `${first} – ${number}`),
    },
    { title: 'Began', cell: ({ beganAt }) => <Instant at={beganAt} zone={zone} /> },
    { title: 'Ended', cell: ({ endedAt }) => <Instant at={endedAt} zone={zone} /> },
    { title: 'Took', cell: ({ tookMs }) => <Duration ms={tookMs} /> },
    { title: 'Worker', cell: ({ worker }) => worker ?? <None /> },
    { title: 'Fence', numeric: true, cell: ({ fence }) => fence },
    { title: 'Outcome', cell: (attempt) => <End attempt={attempt} run={run} /> },
  ];
}

const BADGES: Readonly<Record<Exclude<AttemptEnd, 'unrecorded' | 'lost'>, Parameters<typeof Badge>[0]>> = {
  succeeded: { tone: 'good', text: 'succeeded' },
  failed: { tone: 'bad', text: 'failed' },
  cancelled: { tone: 'calm', text: 'cancelled', title: 'stopped: its run was cancelled' },
  uncertain: { tone: 'warn', text: 'uncertain', title: 'outcome of an effect unknown' },
  refused: { tone: 'bad', text: 'refused', title: 'write refused as stale' },
  aborted: { tone: 'warn', text: 'aborted', title: 'aborted' },
  open: { tone: 'info', text: 'goes on' },
};

function End({ attempt: { end, why, refusals }, run }: { readonly attempt: SeenAttempt; readonly run: Run }) {
  if (end === 'lost') return <span class="quiet">not in the journal</span>;
  if (end === 'unrecorded') return <span class="quiet">no end recorded</span>;
  return (
    <>
      <Badge {...BADGES[end]} />
      {why === null ? null : <small class="under quiet clipped">{why}</small>}
      {refusals.map((refusal) => (
        <small key={refusal.id} class="under">
          {stepText(refusal)} was refused: {fencesText(refusal, run)}
        </small>
      ))}
    </>
  );
}
