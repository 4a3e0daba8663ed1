import type { Attempt, RunReport } from '../../data/types.js';
import { Badge, type Tone } from '../../ui/badge.js';
import { msText } from '../../time/instants.js';
import { Instant } from '../../ui/instant.js';
import { Section } from '../../ui/page.js';
import { None, Table, type Column } from '../../ui/table.js';
import { WORDS } from '../../words.js';
import { fencesText, stepText } from './refusal-words.js';

const { run: words, heads } = WORDS;

interface AttemptsProps extends Pick<RunReport, 'run' | 'journal' | 'attempts'> {
  readonly zone: string | undefined;
}

/** Each try of the run, as far as its record and the journal still tell. */
export function Attempts({ run, journal, attempts, zone }: AttemptsProps) {
  if (attempts.length === 0) {
    return (
      <Section title={heads.attempts}>
        <p class="quiet">{words.noAttempts}</p>
      </Section>
    );
  }
  return (
    <Section title={heads.attempts} aside={<span class="quiet">{words.inAll(run.attempt)}</span>}>
      <Table
        caption={words.attemptsCaption}
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
  return <p class="quiet">{words.gaps}</p>;
}

type About = Pick<RunReport, 'run' | 'journal'>;

function columns(about: About, zone: string | undefined): readonly Column<Attempt>[] {
  return [
    {
      title: heads.attempt,
      heads: true,
      cell: ({ first, number }) => (first === number ? number : `${first} – ${number}`),
    },
    { title: heads.began, cell: ({ beganAt }) => <Instant at={beganAt} zone={zone} precise /> },
    { title: heads.ended, cell: ({ endedAt }) => <Instant at={endedAt} zone={zone} precise /> },
    { title: heads.took, numeric: true, cell: ({ tookMs }) => (tookMs === null ? null : msText(tookMs)) },
    { title: heads.worker, cell: ({ worker }) => worker ?? <None /> },
    { title: heads.fence, numeric: true, cell: ({ fence }) => fence },
    { title: heads.result, cell: (attempt) => <End attempt={attempt} about={about} /> },
  ];
}

const TONES = {
  ...{ succeeded: 'good', failed: 'bad', cancelled: 'calm', uncertain: 'warn', refused: 'bad', aborted: 'warn' },
  open: 'info',
} as const satisfies Readonly<Record<Exclude<Attempt['end'], 'unrecorded' | 'lost'>, Tone>>;

interface EndProps {
  readonly attempt: Attempt;
  readonly about: About;
}

function End({ attempt: { end, why, refusals }, about: { run, journal } }: EndProps) {
  if (end === 'lost') return <span class="quiet">{words.notInJournal}</span>;
  if (end === 'unrecorded') return <span class="quiet">{words.noEnd}</span>;
  return (
    <>
      <Badge tone={TONES[end]} {...words.ends[end]} />
      {why === null ? null : <small class="under quiet clipped">{why}</small>}
      {journal
        .filter(({ id }) => refusals.includes(id))
        .map((refusal) => (
          <small key={refusal.id} class="under">
            {words.refusedLine(stepText(refusal), fencesText(refusal, run))}
          </small>
        ))}
    </>
  );
}
