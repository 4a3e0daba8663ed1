import type { Attempt, RunReport } from '../../data/types.js';
import { Badge } from '../../ui/badge.js';
import { msText } from '../../time/instants.js';
import { Instant } from '../../ui/instant.js';
import { Section } from '../../ui/page.js';
import { None, Table, type Column } from '../../ui/table.js';
import { WORDS } from '../../words.js';
import { fencesText, stepText } from './refusal-words.js';

interface AttemptsProps extends Pick<RunReport, 'run' | 'journal' | 'attempts'> {
  readonly zone: string | undefined;
}

/** Each try of the run, as far as its record and the journal still tell. */
export function Attempts({ run, journal, attempts, zone }: AttemptsProps) {
  if (attempts.length === 0) {
    return (
      <Section title="Attempts">
        <p class="quiet">{WORDS.run.noAttempts}</p>
      </Section>
    );
  }
  return (
    <Section title="Attempts" aside={<span class="quiet">{WORDS.run.inAll(run.attempt)}</span>}>
      <Table
        caption="Attempts, newest first"
        columns={columns({ run, journal }, zone)}
        rows={attempts}
        keyOf={({ number }) => String(number)}
        marked={({ refusals }) => refusals.length > 0}
      />
      {attempts.every(isWhole) ? null : <Gaps />}
    </Section>
  );
}

function isWhole({ beganAt, endedAt, end }: Attempt): boolean {
  return beganAt !== null && (endedAt !== null || end === 'open');
}

function Gaps() {
  return <p class="quiet">{WORDS.run.gaps}</p>;
}

type About = Pick<RunReport, 'run' | 'journal'>;

function columns(about: About, zone: string | undefined): readonly Column<Attempt>[] {
  return [
    {
      title: 'Attempt',
      heads: true,
      cell: ({ first, number }) => (first === number ? number : `${first} – ${number}`),
    },
    { title: 'Began', cell: ({ beganAt }) => <Instant at={beganAt} zone={zone} precise /> },
    { title: 'Ended', cell: ({ endedAt }) => <Instant at={endedAt} zone={zone} precise /> },
    { title: 'Took', numeric: true, cell: ({ tookMs }) => (tookMs === null ? null : msText(tookMs)) },
    { title: 'Worker', cell: ({ worker }) => worker ?? <None /> },
    { title: 'Fence', numeric: true, cell: ({ fence }) => fence },
    { title: 'Outcome', cell: (attempt) => <End attempt={attempt} about={about} /> },
  ];
}

const BADGES: Readonly<Record<Exclude<Attempt['end'], 'unrecorded' | 'lost'>, Parameters<typeof Badge>[0]>> = {
  succeeded: { tone: 'good', text: 'succeeded' },
  failed: { tone: 'bad', text: 'failed' },
  cancelled: { tone: 'calm', text: 'cancelled', title: 'stopped: its run was cancelled' },
  uncertain: { tone: 'warn', text: 'uncertain', title: 'outcome of an effect unknown' },
  refused: { tone: 'bad', text: 'refused', title: 'write refused as stale' },
  aborted: { tone: 'warn', text: 'aborted', title: 'aborted' },
  open: { tone: 'info', text: 'goes on' },
};

interface EndProps {
  readonly attempt: Attempt;
  readonly about: About;
}

function End({ attempt: { end, why, refusals }, about: { run, journal } }: EndProps) {
  if (end === 'lost') return <span class="quiet">{WORDS.run.notInJournal}</span>;
  if (end === 'unrecorded') return <span class="quiet">{WORDS.run.noEnd}</span>;
  return (
    <>
      <Badge {...BADGES[end]} />
      {why === null ? null : <small class="under quiet clipped">{why}</small>}
      {journal
        .filter(({ id }) => refusals.includes(id))
        .map((refusal) => (
          <small key={refusal.id} class="under">
            {WORDS.run.refusedLine(stepText(refusal), fencesText(refusal, run))}
          </small>
        ))}
    </>
  );
}
