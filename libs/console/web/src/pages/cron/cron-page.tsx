import { Link, useLocation, useSearch } from 'wouter-preact';
import { to } from '../../data/paths.js';
import { cronQuestions } from '../../data/questions.js';
import { useResource } from '../../data/resource.js';
import type { CronDetail, JournalEntry } from '../../data/types.js';
import { HealthBadge, toneOf } from '../../ui/badge.js';
import { Instant, Since } from '../../ui/instant.js';
import { MutedNotice } from '../../ui/muted.js';
import { Page } from '../../ui/page.js';
import { Shown } from '../../ui/states.js';
import { Tabs, type Tab } from '../../ui/tabs.js';
import { WORDS } from '../../words.js';
import { ActivityTab } from './activity-tab.js';
import { CronActions } from './cron-actions.js';
import { CronRuns } from './cron-runs.js';
import { Definition } from './definition.js';
import { NowTab } from './now-tab.js';
import { TimelineSection } from './timeline-section.js';
import { WhyBox } from './why-box.js';

const { cron: words } = WORDS;
const EVERY_MS = 5_000;

export function CronPage({ name }: { readonly name: string }) {
  const concerns = ({ cron }: JournalEntry) => cron === name;
  const detail = useResource(cronQuestions.detail(name), { concerns, everyMs: EVERY_MS });
  return (
    <Page title={name}>
      <Shown of={detail} what={words.what(name)}>
        {(cron) => <Known cron={cron} at={detail.at} reload={detail.reload} />}
      </Shown>
    </Page>
  );
}

const TABS: readonly Tab[] = Object.entries(words.tabs);
const MANY_RUNS = 50;

interface KnownProps {
  readonly cron: CronDetail;
  readonly at: number;
  readonly reload: () => void;
}

/** The tab and the instant that is asked about are the address: either can be sent to somebody. */
function Known({ cron, at, reload }: KnownProps) {
  const search = new URLSearchParams(useSearch());
  const [, go] = useLocation();
  const asked = search.get('at');
  const ask = (instant: string) => go(to.cron(cron.name, instant), { replace: true });
  const chosen = tabOf(search.get('tab'), asked);
  return (
    <>
      <Said cron={cron} />
      <Health cron={cron} />
      <CronActions cron={cron} reload={reload} />
      {cron.paused ? <PausedNotice cron={cron} /> : null}
      <MutedNotice cron={cron} />
      <Tabs
        label={words.tablist}
        tabs={TABS}
        chosen={chosen}
        choose={(tab) => go(to.cronTab(cron.name, tab), { replace: true })}
      >
        {chosen === 'now' ? <NowTab cron={cron} at={at} /> : null}
        {chosen === 'timeline' ? (
          <>
            <TimelineSection {...{ cron, asked, ask }} />
            <WhyBox {...{ cron, asked, ask }} />
          </>
        ) : null}
        {chosen === 'runs' ? <CronRuns cron={cron} limit={MANY_RUNS} /> : null}
        {chosen === 'definition' ? <Definition cron={cron} reload={reload} /> : null}
        {chosen === 'activity' ? <ActivityTab cron={cron} /> : null}
      </Tabs>
    </>
  );
}

/** What is wrong with it, since when, and what its newest run failed with; one that is paused or well says so below. */
function Health({ cron }: { readonly cron: CronDetail }) {
  const { health, last } = cron;
  const tone = toneOf(health);
  if (tone === 'good' || tone === 'calm') return null;
  return (
    <p class={`notice ${tone}`}>
      <HealthBadge cron={cron} /> {health.since === null ? null : <Since at={health.since} />}
      {last?.error ? (
        <>
          {': '}
          <Link href={to.run(last.id)}>{last.error.split('\n', 1)[0]}</Link>
        </>
      ) : null}
    </p>
  );
}

/** What it says of itself to people. A definition may be older than the rule for addresses, and `javascript:` would be run. */
function Said({ cron: { description, owner, runbookUrl } }: { readonly cron: CronDetail }) {
  return (
    <>
      {description === null ? null : <p class="intro">{description}</p>}
      {owner === null ? null : <span class="said">{words.ownedBy(owner)}</span>}
      {runbookUrl !== null && /^https?:\/\//.test(runbookUrl) ? (
        <a class="said" href={runbookUrl} target="_blank" rel="noopener noreferrer">
          {words.facts.runbook}
        </a>
      ) : null}
    </>
  );
}

/** Whoever asks about an instant sees it on the timeline. */
function tabOf(tab: string | null, asked: string | null): string {
  return TABS.find(([key]) => key === tab)?.[0] ?? (asked === null ? 'now' : 'timeline');
}

function PausedNotice({ cron: { paused, timeZone } }: { readonly cron: CronDetail }) {
  if (!paused) return null;
  return (
    <p class="notice warn">
      <strong>{words.paused}</strong> {words.pausedBy(paused.by)} <Instant at={paused.since} zone={timeZone} />
      {paused.until ? (
        <>
          {' '}
          {words.until} <Instant at={paused.until} zone={timeZone} />
        </>
      ) : (
        ` ${words.untilResumed}`
      )}
      : {paused.reason}
    </p>
  );
}
