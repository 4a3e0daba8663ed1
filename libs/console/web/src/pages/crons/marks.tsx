import type { CronSummary } from '../../data/types.js';
import { durationText, instantText } from '../../time/instants.js';
import { shownZone } from '../../time/zones.js';
import { WORDS } from '../../words.js';

const { home: words } = WORDS;
type Mark = NonNullable<CronSummary['marks']>[number];

const SLOTS = 30;
const STEP = 5;
const HEIGHT = 20;

/** Tall where something is wrong, so that colour is not alone. */
const TALL: ReadonlySet<string> = new Set(['failed', 'missed', 'uncertain']);

interface MarksProps {
  readonly cron: Pick<CronSummary, 'marks' | 'timeZone'>;
}

/** The newest runs and skips of a cron, the newest at the right; each says on hover what it was. */
export function Marks({ cron: { marks, timeZone } }: MarksProps) {
  if (marks === null) return <span class="quiet">{WORDS.list.unknown}</span>;
  const zone = shownZone(timeZone);
  const first = SLOTS - marks.length;
  return (
    <svg class="trend" width={SLOTS * STEP} height={HEIGHT} role="img" aria-label={inWords(marks)}>
      {marks.map((mark, n) => (
        <Bar key={`${mark.at} ${mark.runId ?? ''}`} mark={mark} x={(first + n) * STEP} text={lineOf(mark, zone)} />
      ))}
    </svg>
  );
}

function Bar({
  mark: { outcome, asked },
  x,
  text,
}: {
  readonly mark: Mark;
  readonly x: number;
  readonly text: string;
}) {
  const height = TALL.has(outcome) ? HEIGHT : HEIGHT / 2;
  return (
    <rect
      class={`${outcome}${asked === null ? '' : ' asked'}`}
      x={x}
      y={HEIGHT - height}
      width={STEP - 1}
      height={height}
    >
      <title>{text}</title>
    </rect>
  );
}

function inWords(marks: readonly Mark[]): string {
  const counts = new Map<string, number>();
  for (const { outcome } of marks) counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  return words.marks([...counts]);
}

function lineOf({ at, outcome, lateByMs, tookMs, asked }: Mark, zone: string): string {
  const details = [
    asked ?? '',
    lateByMs === null ? '' : words.started(durationText(lateByMs)),
    tookMs === null ? '' : words.took(durationText(tookMs)),
  ];
  return [`${instantText(at, zone)} ${zone}: ${outcome}`, ...details.filter((text) => text !== '')].join(', ');
}
