import { Link } from 'wouter-preact';
import { to } from '../../data/paths.js';
import { cronQuestions, questions } from '../../data/questions.js';
import { useResource } from '../../data/resource.js';
import type { Run, RunReport, Effect, Items } from '../../data/types.js';
import { RunBadge, Badge } from '../../ui/badge.js';
import { Data, Facts, type Fact } from '../../ui/facts.js';
import { msText } from '../../time/instants.js';
import { Instant, ZoneNote } from '../../ui/instant.js';
import { JournalTable } from '../../ui/journal-table.js';
import { MutedNotice } from '../../ui/muted.js';
import { Page, Section } from '../../ui/page.js';
import { Empty, Shown } from '../../ui/states.js';
import { Answers } from './answers.js';
import { WORDS } from '../../words.js';
import { Attempts } from './attempts-section.js';
import { Compare } from './compare.js';
import { Logs } from './logs.js';
import { Refusals } from './refusals.js';
import { RunActions } from './run-actions.js';
import { RunLinks } from './run-links.js';
import { Stacks } from './stacks.js';
import { OPEN_STATES } from './waterfall.js';
import { WaterfallSection } from './waterfall-section.js';
import { Table, type Column } from '../../ui/table.js';

const { run: words, heads } = WORDS;
const { facts, effectStates } = words;

type Item = Items['open'][number];

const itemColumns = (zone: string | undefined): readonly Column<Item>[] => [
  { title: heads.item, heads: true, cell: ({ key }) => key },
  { title: heads.state, cell: ({ state }) => state },
  { title: heads.since, cell: ({ since }) => <Instant at={since} zone={zone} /> },
  { title: words.failedWith, cell: ({ error }) => error },
];

interface ItemsProps {
  readonly items: Readonly<Record<string, Items>>;
  readonly zone: string | undefined;
}

/** How far each `forEach` came, and what is still open of it. */
function ItemsSection({ items, zone }: ItemsProps) {
  const lists = Object.entries(items);
  if (lists.length === 0) return null;
  return (
    <Section title={words.items}>
      {lists.map(([name, { done, failed, begun, open }]) => (
        <div key={name}>
          <h3>{name}</h3>
          <p>{words.itemCounts(done, begun, failed)}</p>
          {open.length === 0 ? null : (
            <Table caption={words.openItems(name)} columns={itemColumns(zone)} rows={open} keyOf={({ key }) => key} />
          )}
        </div>
      ))}
    </Section>
  );
}

const effectColumns = (zone: string | undefined): readonly Column<Effect>[] => [
  { title: heads.effect, heads: true, cell: ({ name }) => name },
  { title: heads.state, cell: (effect) => <EffectBadge effect={effect} /> },
  { title: words.effectBegun, cell: ({ since }) => <Instant at={since} zone={zone} precise /> },
  { title: heads.ended, cell: ({ finishedAt }) => <Instant at={finishedAt} zone={zone} precise /> },
  { title: heads.took, numeric: true, cell: ({ since, finishedAt }) => betweenText(since, finishedAt) },
  { title: heads.fence, numeric: true, cell: ({ fence }) => fence },
  {
    title: heads.result,
    cell: ({ result, error, name }) => error ?? <Data value={result} label={words.resultOf(name)} />,
  },
];

interface EffectsProps {
  readonly effects: readonly Effect[];
  readonly zone: string | undefined;
}

function Effects({ effects, zone }: EffectsProps) {
  return (
    <Section title={words.effects}>
      {effects.length === 0 ? (
        <p class="quiet">{words.noEffects}</p>
      ) : (
        <Table caption={words.effectsCaption} columns={effectColumns(zone)} rows={effects} keyOf={({ name }) => name} />
      )}
    </Section>
  );
}

function betweenText(begin: string, end: string | null): string | null {
  return end === null ? null : msText(Date.parse(end) - Date.parse(begin));
}

const EFFECT_TONES = { done: 'good', failed: 'bad', begun: 'info' } as const;

function EffectBadge({ effect: { state, unknown } }: { readonly effect: Effect }) {
  if (unknown) return <Badge tone="warn" text={effectStates.unknown} title={words.unknownEffect} />;
  return <Badge tone={EFFECT_TONES[state]} text={effectStates[state]} />;
}

const EVERY_MS = 5_000;

export function RunPage({ id }: { readonly id: string }) {
  const report = useResource(questions.run(id), { concerns: ({ runId }) => runId === id, everyMs: EVERY_MS });
  return (
    <Page title={words.title(id)}>
      <Shown of={report} what={words.what(id)}>
        {(data) => <Known report={data} reload={report.reload} />}
      </Shown>
    </Page>
  );
}

function Known({ report, reload }: { readonly report: RunReport; readonly reload: () => void }) {
  const { run, effects, items, unresolvedEffect, journal, logs, attempts } = report;
  const cron = useResource(cronQuestions.detail(run.cron)).data;
  const zone = cron?.timeZone;
  return (
    <>
      <div class="actions">
        <RunActions run={run} reload={reload} />
        <RunLinks {...report} />
      </div>
      {cron && <MutedNotice cron={cron} />}
      {/* The error of an attempt that asks names its unresolved effect. */}
      {run.error === null || unresolvedEffect ? null : <Wrong error={run.error} />}
      <Answers {...{ report, reload, zone }} />
      <Section title={heads.state} aside={<RunBadge state={run.state} title={run.skipped ?? undefined} />}>
        <Facts of={[...stateOf(run, zone), ...originOf(run)].filter(([, value]) => value !== null)} />
        <ZoneNote zone={zone} />
      </Section>
      <WaterfallSection report={report} zone={zone} />
      <Stacks attempts={attempts} />
      <Effects effects={effects} zone={zone} />
      <ItemsSection items={items} zone={zone} />
      <Attempts {...{ run, journal, attempts, zone }} />
      <Logs lines={logs} />
      <Compare report={report} />
      <Refusals {...{ run, journal, zone }} />
      <History journal={journal} zone={zone} />
    </>
  );
}

function Wrong({ error }: { readonly error: string }) {
  return (
    <p class="notice bad">
      <strong>{words.latestFailed}</strong> {error}
    </p>
  );
}

function stateOf(run: Run, zone: string | undefined): readonly Fact[] {
  const when = (at: string | null) => at && <Instant at={at} zone={zone} precise />;
  return [
    [heads.cron, <Link href={to.cron(run.cron, run.scheduledAt)}>{run.cron}</Link>],
    [facts.scheduledFor, <Instant at={run.scheduledAt} zone={zone} relative precise />],
    [heads.accepted, when(run.claimedAt)],
    [facts.enqueued, when(run.enqueuedAt)],
    [heads.began, when(run.startedAt)],
    [heads.ended, when(run.finishedAt)],
    [facts.delay, run.lateByMs === null ? null : msText(run.lateByMs)],
    [heads.took, run.tookMs === null ? null : msText(run.tookMs)],
    [heads.attempts, run.attempt],
    [heads.fence, run.fence],
    [heads.worker, run.worker],
    [facts.nextAttempt, OPEN_STATES.has(run.state) ? when(run.notBefore) : null],
    [facts.skipReason, run.skipped],
    [facts.waitsFor, run.waiting],
    [heads.result, run.result === null ? null : <Data value={run.result} label={heads.result} />],
  ];
}

function originOf(run: Run): readonly Fact[] {
  return [
    [heads.reason, run.by === null ? run.reason : words.ordered(run.reason, run.by)],
    [facts.claimedBy, words.claim(run.claimedBy, run.claimFence)],
    [heads.generation, run.generation],
    [facts.deliveries, run.delivery],
    [heads.payload, run.payload === null ? null : <Data value={run.payload} label={heads.payload} />],
    [facts.covers, run.missed && words.missed(run.missed.count)],
    [facts.cancelled, run.cancel && words.by(run.cancel.by)],
  ];
}

interface HistoryProps extends Pick<RunReport, 'journal'> {
  readonly zone: string | undefined;
}

function History({ journal, zone }: HistoryProps) {
  return (
    <Section title={words.journal}>
      {journal.length === 0 ? (
        <Empty title={words.noJournal}>
          <p>{words.journalKept}</p>
        </Empty>
      ) : (
        <JournalTable caption={words.journalCaption} entries={journal} zone={zone} />
      )}
    </Section>
  );
}
