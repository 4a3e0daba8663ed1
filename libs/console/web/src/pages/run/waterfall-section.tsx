import type { RunReport } from '../../data/types.js';
import { msText, preciseText } from '../../time/instants.js';
import { now } from '../../time/now.js';
import { shownZone } from '../../time/zones.js';
import { Section } from '../../ui/page.js';
import { Table, type Column } from '../../ui/table.js';
import { WORDS } from '../../words.js';
import { waterfallOf, type Waterfall, type WaterfallRow } from './waterfall.js';

interface WaterfallProps {
  readonly report: RunReport;
  readonly zone: string | undefined;
}

/** One table for the eye and for a screen reader: the drawing is a column of it. */
export function WaterfallSection({ report, zone }: WaterfallProps) {
  const waterfall = waterfallOf(report, report.run.finishedAt === null ? now.value : 0);
  const shown = shownZone(zone);
  return (
    <Section title={WORDS.run.waterfall} aside={<span class="quiet">{msText(waterfall.ms)}</span>}>
      <div class="waterfall">
        <Table
          caption={WORDS.run.waterfallCaption}
          columns={columns(waterfall)}
          rows={waterfall.rows}
          keyOf={({ key }) => key}
        />
      </div>
      <p class="quiet">{WORDS.run.waterfallFrom(`${preciseText(waterfall.begin, shown)} ${shown}`)}</p>
    </Section>
  );
}

function columns(waterfall: Waterfall): readonly Column<WaterfallRow>[] {
  return [
    { title: WORDS.run.step, heads: true, cell: ({ kind, name }) => <span class={`step-${kind}`}>{name}</span> },
    { title: WORDS.run.begins, numeric: true, cell: ({ from }) => (from === null ? null : `+${msText(from)}`) },
    { title: WORDS.heads.took, numeric: true, cell: tookText },
    { title: WORDS.run.drawn, cell: (row) => <Bar row={row} ms={waterfall.ms} /> },
  ];
}

function tookText({ tookMs, open }: WaterfallRow): string | null {
  if (tookMs === null) return null;
  return open ? `${msText(tookMs)}, ${WORDS.run.open}` : msText(tookMs);
}

const WIDTH = 1_000;
const MIN_WIDTH = 3;

function Bar({ row: { from, tookMs, kind, tone, open }, ms }: { readonly row: WaterfallRow; readonly ms: number }) {
  if (from === null) return <small class="quiet">{WORDS.run.notRecorded}</small>;
  const width = Math.max(MIN_WIDTH, ((tookMs ?? 0) / ms) * WIDTH);
  const x = Math.min((from / ms) * WIDTH, WIDTH - width);
  return (
    <svg class={`span ${kind} ${tone}`} viewBox={`0 0 ${WIDTH} 14`} preserveAspectRatio="none" aria-hidden="true">
      <rect class="track" width={WIDTH} height="14" />
      <rect
        class={open ? 'run-bar open' : 'run-bar'}
        x={x}
        y={kind === 'wait' ? 5 : 1}
        width={width}
        height={kind === 'wait' ? 4 : 12}
      />
    </svg>
  );
}
