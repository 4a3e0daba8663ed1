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
import { WaterfallSection } from './waterfall-section.js';
import { Table, type Column } from '../../ui/table.js';

type Item = Items['open'][number];

const itemColumns = (zone: string | undefined): readonly Column<Item>[] => [
  { title: 'Item', heads: true, cell: ({ key }) => key },
  { title: 'State', cell: ({ state }) => state },
  { title: 'Since', cell: ({ since }) => <Instant at={since} zone={zone} /> },
  { title: 'Failed with', cell: ({ error }) => error },
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
    <Section title="Items">
      {lists.map(([name, { done, failed, begun, open }]) => (
        <div key={name}>
          <h3>{name}</h3>
          <p>
            {done.toLocaleString('en')} done, {begun} begun, {failed} failed
          </p>
          {open.length === 0 ? null : (
            <Table caption={`Open items of ${name}`} columns={itemColumns(zone)} rows={open} keyOf={({ key }) => key} />
          )}
        </div>
      ))}
    </Section>
  );
}

const effectColumns = (zone: string | undefined): readonly Column<Effect>[] => [
  { title: 'Effect', heads: true, cell: ({ name }) => name },
  { title: 'Outcome', cell: (effect) => <OutcomeBadge effect={effect} /> },
  { title: 'Begun', cell: ({ since }) => <Instant at={since} zone={zone} precise /> },
  { title: 'Ended', cell: ({ finishedAt }) => <Instant at={finishedAt} zone={zone} precise /> },
  { title: 'Took', numeric: true, cell: ({ since, finishedAt }) => betweenText(since, finishedAt) },
  { title: 'Fence', numeric: true, cell: ({ fence }) => fence },
  { title: 'Result', cell: ({ result, error, name }) => error ?? <Data value={result} label={`Result of ${name}`} /> },
];

interface EffectsProps {
  readonly effects: readonly Effect[];
  readonly zone: string | undefined;
}

function Effects({ effects, zone }: EffectsProps) {
  return (
    <Section title="Effects">
      {effects.length === 0 ? (
        <p class="quiet">{WORDS.run.noEffects}</p>
      ) : (
        <Table
          caption="Effects, in order of start"
          columns={effectColumns(zone)}
          rows={effects}
          keyOf={({ name }) => name}
        />
      )}
    </Section>
  );
}

function betweenText(begin: string, end: string | null): string | null {
  return end === null ? null : msText(Date.parse(end) - Date.parse(begin));
}

function OutcomeBadge({ effect: { state, unknown } }: { readonly effect: Effect }) {
  if (unknown) return <Badge tone="warn" text="unknown" title="Begun, but its worker died" />;
  if (state === 'done') return <Badge tone="good" text="done" />;
  return state === 'failed' ? <Badge tone="bad" text="failed" /> : <Badge tone="info" text="begun" />;
}

const EVERY_MS = 5_000;

export function RunPage({ id }: { readonly id: string }) {
  const report = useResource(questions.run(id), { concerns: ({ runId }) => runId === id, everyMs: EVERY_MS });
  return (
    <Page title={WORDS.run.title(id)}>
      <Shown of={report} what={WORDS.run.what(id)}>
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
      <Section title={WORDS.run.state} aside={<RunBadge state={run.state} title={run.skipped ?? undefined} />}>
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
      <strong>{WORDS.run.latestFailed}</strong> {error}
    </p>
  );
}

const OVER: ReadonlySet<string> = new Set(['succeeded', 'failed', 'cancelled', 'skipped']);

function stateOf(run: Run, zone: string | undefined): readonly Fact[] {
  const when = (at: string | null) => at && <Instant at={at} zone={zone} precise />;
  return [
    ['Cron', <Link href={to.cron(run.cron, run.scheduledAt)}>{run.cron}</Link>],
    ['Scheduled for', <Instant at={run.scheduledAt} zone={zone} relative precise />],
    ['Accepted', when(run.claimedAt)],
    ['Enqueued', when(run.enqueuedAt)],
    ['Began', when(run.startedAt)],
    ['Ended', when(run.finishedAt)],
    ['Start delay', run.lateByMs === null ? null : msText(run.lateByMs)],
    ['Took', run.tookMs === null ? null : msText(run.tookMs)],
    ['Attempts', run.attempt],
    ['Fence', run.fence],
    ['Worker', run.worker],
    ['Next attempt', OVER.has(run.state) ? null : when(run.notBefore)],
    ['Skip reason', run.skipped],
    ['Waits for', run.waiting],
  ];
}

function originOf(run: Run): readonly Fact[] {
  return [
    ['Reason', run.by === null ? run.reason : `${run.reason}, ordered by ${run.by}`],
    ['Claimed by', `${run.claimedBy}, fence ${run.claimFence}`],
    ['Generation', run.generation],
    ['Deliveries', run.delivery],
    ['Payload', run.payload === null ? null : <Data value={run.payload} label="Payload" />],
    ['Also covers', run.missed && `${run.missed.count} missed instants`],
    ['Cancelled', run.cancel && `by ${run.cancel.by}`],
  ];
}

interface HistoryProps extends Pick<RunReport, 'journal'> {
  readonly zone: string | undefined;
}

function History({ journal, zone }: HistoryProps) {
  return (
    <Section title="Journal">
      {journal.length === 0 ? (
        <Empty title={WORDS.run.noJournal}>
          <p>{WORDS.run.journalKept}</p>
        </Empty>
      ) : (
        <JournalTable caption="All events, newest first" entries={journal} zone={zone} />
      )}
    </Section>
  );
}
