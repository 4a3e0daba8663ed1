import { useState } from 'preact/hooks';
import { may } from '../../data/session.js';
import type { CronDetail, Generation } from '../../data/types.js';
import { Data, Facts } from '../../ui/facts.js';
import { Duration, Instant } from '../../ui/instant.js';
import { Section } from '../../ui/page.js';
import { Table, type Column } from '../../ui/table.js';
import { WORDS } from '../../words.js';
import { DefinitionOrder } from './definition-order.js';

const { cron: words } = WORDS;

interface DefinitionProps {
  readonly cron: CronDetail;
  readonly reload: () => void;
}

export function Definition({ cron, reload }: DefinitionProps) {
  const [editing, setEditing] = useState(false);
  const { generations, timeZone, description } = cron;
  const close = () => {
    setEditing(false);
    reload();
  };
  const edit = may('admin') ? (
    <button type="button" disabled={cron.state === 'removed'} onClick={() => setEditing(true)}>
      {words.edit}
    </button>
  ) : null;
  return (
    <>
      <Section title={words.definition} aside={edit}>
        <Facts of={[['Schedule', description], ...policies(cron), ...origin(cron)]} />
      </Section>
      <Section title={words.generations}>
        <Table
          caption={words.generationsCaption}
          columns={columns(timeZone)}
          rows={generations.toReversed()}
          keyOf={({ generation, since }) => `${generation} ${since}`}
        />
      </Section>
      {editing ? <DefinitionOrder cron={cron} onClose={close} /> : null}
    </>
  );
}

function policies(cron: CronDetail) {
  const { misfire, overlap, dst } = cron;
  return [
    ['Expression', <code>{cron.expression}</code>],
    ['Zone', cron.timeZone],
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
    { title: 'Generation', heads: true, cell: ({ generation }) => words.generation(generation) },
    { title: 'Since', cell: ({ since }) => <Instant at={since} zone={zone} /> },
    { title: 'State', cell: ({ state }) => state },
    { title: 'Changes', cell: (generation) => <Changes of={generation} /> },
    { title: 'By', cell: ({ by }) => by },
    { title: 'Reason', cell: ({ reason }) => reason },
  ];
}

function Changes({ of: { changes, expression, timeZone } }: { readonly of: Generation }) {
  if (changes.length === 0) return <span class="quiet">{`${words.first}: ${expression} in ${timeZone}`}</span>;
  return (
    <ul class="plain-list changes">
      {changes.map(({ part, was, is }) => (
        <li key={part}>{part === 'ping' ? words.changedOnly(part) : words.changed(part, plain(was), plain(is))}</li>
      ))}
    </ul>
  );
}

function plain(value: unknown): string {
  if (value === null || value === undefined) return words.unset;
  return typeof value === 'string' ? value : JSON.stringify(value);
}
