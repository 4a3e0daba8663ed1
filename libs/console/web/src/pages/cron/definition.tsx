import type { CronDetail, Generation } from '../../data/types.js';
import { Data, Facts } from '../../ui/facts.js';
import { Duration, Instant } from '../../ui/instant.js';
import { Section } from '../../ui/page.js';
import { Table, type Column } from '../../ui/table.js';

export function Definition({ cron }: { readonly cron: CronDetail }) {
  const { generations, timeZone } = cron;
  return (
    <Section title="Definition">
      <Facts of={[...policies(cron), ...origin(cron)]} />
      <h3>Generations</h3>
      <Table
        caption="Generations, newest first"
        columns={columns(timeZone)}
        rows={generations.toReversed()}
        keyOf={({ generation, since }) => `${generation} ${since}`}
      />
    </Section>
  );
}

function policies(cron: CronDetail) {
  const { misfire, overlap, dst } = cron;
  return [
    ['Missed instants', misfire],
    ['Overlap', `${overlap}, ${cron.maxConcurrency} at once`],
    ['Late after', <Duration ms={cron.graceMs} />],
    [
      'Catch-up window',
      cron.catchUpWindowMs === null ? 'one period, at least its grace' : <Duration ms={cron.catchUpWindowMs} />,
    ],
    ['Clock changes', `gap: ${dst.gap}, repeat: ${dst.repeat}`],
    ['Spread', cron.spreadMs === 0 ? null : <Duration ms={cron.spreadMs} />],
    ['Start deadline', cron.startDeadlineMs === null ? null : <Duration ms={cron.startDeadlineMs} />],
    ['Success expected every', cron.expectEveryMs === null ? null : <Duration ms={cron.expectEveryMs} />],
    ['Alarm when late by', cron.lateAfterMs === null ? null : <Duration ms={cron.lateAfterMs} />],
  ] as const;
}

function origin({ handler, payload, source, buildSeq, zoneData, name }: CronDetail) {
  return [
    ['Handler', handler ?? name],
    ['Payload', <Data value={payload} label="Payload" />],
    ['Declared by', source === null ? 'an operator, at run time' : `${source}, build ${buildSeq ?? '?'}`],
    ['Zone data', zoneData],
  ] as const;
}

function columns(zone: string): readonly Column<Generation>[] {
  return [
    { title: 'Generation', heads: true, cell: ({ generation }) => `Generation ${generation}` },
    { title: 'Since', cell: ({ since }) => <Instant at={since} zone={zone} /> },
    { title: 'State', cell: ({ state }) => state },
    { title: 'Schedule', cell: ({ expression, timeZone }) => `${expression} in ${timeZone}` },
    { title: 'By', cell: ({ by }) => by },
    { title: 'Reason', cell: ({ reason }) => reason },
  ];
}
