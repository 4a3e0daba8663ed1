import { useState } from 'preact/hooks';
import { may } from '../../data/session.js';
import type { CronDetail, Generation } from '../../data/types.js';
import { Data, Facts, type Fact } from '../../ui/facts.js';
import { Duration, Instant } from '../../ui/instant.js';
import { Section } from '../../ui/page.js';
import { Table, type Column } from '../../ui/table.js';
import { Tags } from '../../ui/tags.js';
import { WORDS } from '../../words.js';
import { DefinitionOrder } from './definition-order.js';

const { cron: words, heads } = WORDS;
const { facts } = words;

interface DefinitionProps {
  readonly cron: CronDetail;
  readonly reload: () => void;
}

export function Definition({ cron, reload }: DefinitionProps) {
  const [editing, setEditing] = useState(false);
  const { generations, timeZone, scheduleText } = cron;
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
        <Facts of={[[heads.schedule, scheduleText], ...policies(cron), ...origin(cron)]} />
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
    [heads.expression, <code>{cron.expression}</code>],
    [heads.zone, cron.timeZone],
    [facts.misfire, misfire],
    [facts.overlap, words.atOnce(overlap, cron.maxConcurrency)],
    [facts.grace, <Duration ms={cron.graceMs} />],
    [facts.window, cron.catchUpWindowMs === null ? words.usualWindow : <Duration ms={cron.catchUpWindowMs} />],
    [facts.dst, words.dst(dst.gap, dst.repeat)],
    [facts.spread, cron.spreadMs === 0 ? null : <Duration ms={cron.spreadMs} />],
    [facts.deadline, cron.startDeadlineMs === null ? null : <Duration ms={cron.startDeadlineMs} />],
    [facts.expect, cron.expectEveryMs === null ? null : <Duration ms={cron.expectEveryMs} />],
    [facts.alarm, cron.lateAfterMs === null ? null : <Duration ms={cron.lateAfterMs} />],
  ] as const;
}

function origin(cron: CronDetail) {
  const { handler, payload, tags, app, revision, zoneData, name, declarations } = cron;
  const { since = null, removedAt = null } = declarations?.undeclared ?? {};
  return [
    [facts.handler, handler ?? name],
    [heads.payload, <Data value={payload} label={heads.payload} />],
    [facts.tags, tags.length === 0 ? null : <Tags of={tags} />],
    [facts.declared, app === null ? words.byOperator : words.revision(app, revision)],
    [facts.live, <LivePods cron={cron} />],
    ...timeOf(facts.undeclared, since, cron.timeZone),
    ...timeOf(facts.removedAt, removedAt, cron.timeZone),
    [facts.zoneData, zoneData],
  ] as const;
}

function timeOf(name: string, at: string | null, zone: string): readonly Fact[] {
  return at === null ? [] : [[name, <Instant at={at} zone={zone} />]];
}

/** Which live pods declare it, compared with what is in force. */
function LivePods({ cron: { app, declarations } }: { readonly cron: CronDetail }) {
  if (declarations === null) return <span class="quiet">{WORDS.list.unknown}</span>;
  const { revisions, undeclared } = declarations;
  if (revisions.length === 0) return app === null ? null : <>{words.noLivePods(app)}</>;
  return (
    <ul class="plain-list">
      {revisions.map((one) => (
        <li key={`${one.revision} ${one.app}`}>
          {words.livePods(words.revision(one.app, one.revision), one.pods)}: {words.declares[one.declares]}
        </li>
      ))}
      {undeclared?.since === null ? <li>{words.removedOnce}</li> : null}
    </ul>
  );
}

function columns(zone: string): readonly Column<Generation>[] {
  return [
    { title: heads.generation, heads: true, cell: ({ generation }) => words.generation(generation) },
    { title: heads.since, cell: ({ since }) => <Instant at={since} zone={zone} /> },
    { title: heads.state, cell: ({ state }) => state },
    { title: words.changes, cell: (generation) => <Changes of={generation} /> },
    { title: heads.by, cell: ({ by }) => by },
    { title: heads.reason, cell: ({ reason }) => reason },
  ];
}

function Changes({ of: { changes, expression, timeZone } }: { readonly of: Generation }) {
  if (changes.length === 0) return <span class="quiet">{words.first(expression, timeZone)}</span>;
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
