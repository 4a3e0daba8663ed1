import { useLocation, useSearch } from 'wouter-preact';
import { to } from '../../data/paths.js';
import type { CronDetail, JournalEntry } from '../../data/types.js';
import { cronQuestions } from '../../data/questions.js';
import { useResource } from '../../data/resource.js';
import { StateBadge } from '../../ui/badge.js';
import { Facts } from '../../ui/facts.js';
import { Instant, Left } from '../../ui/instant.js';
import { Page, Section } from '../../ui/page.js';
import { Shown } from '../../ui/states.js';
import { CronActions } from './cron-actions.js';
import { CronRuns } from './cron-runs.js';
import { Definition } from './definition.js';
import { DoneByPeople } from './done-by-people.js';
import { Fences } from './fences.js';
import { TimelineSection } from './timeline-section.js';
import { WhyBox } from './why-box.js';

const EVERY_MS = 5_000;

export function CronPage({ name }: { readonly name: string }) {
  const concerns = ({ cron }: JournalEntry) => cron === name;
  const detail = useResource(cronQuestions.detail(name), { concerns, everyMs: EVERY_MS });
  return (
    <Page title={name}>
      <Shown of={detail} what={`the cron "${name}"`}>
        {(cron) => <Known cron={cron} at={detail.at} reload={detail.reload} />}
      </Shown>
    </Page>
  );
}

interface KnownProps {
  readonly cron: CronDetail;
  readonly at: number;
  readonly reload: () => void;
}

function Known({ cron, at, reload }: KnownProps) {
  const asked = new URLSearchParams(useSearch()).get('at');
  const [, go] = useLocation();
  const ask = (instant: string) => go(to.cron(cron.name, instant), { replace: true });
  return (
    <>
      <CronActions cron={cron} reload={reload} />
      {cron.paused ? <PausedNotice cron={cron} /> : null}
      <Glance cron={cron} at={at} />
      <TimelineSection {...{ cron, asked, ask }} />
      <WhyBox {...{ cron, asked, ask }} />
      <CronRuns cron={cron} />
      <Fences cron={cron} />
      <Definition cron={cron} />
      <DoneByPeople cron={cron} />
    </>
  );
}

function PausedNotice({ cron: { paused, timeZone } }: { readonly cron: CronDetail }) {
  if (!paused) return null;
  return (
    <p class="notice warn">
      <strong>Paused</strong> by {paused.by} since <Instant at={paused.since} zone={timeZone} />
      {paused.until ? (
        <>
          {' '}
          until <Instant at={paused.until} zone={timeZone} />
        </>
      ) : (
        ' until somebody resumes it'
      )}
      : {paused.reason}
    </p>
  );
}

function Glance({ cron, at }: { readonly cron: CronDetail; readonly at: number }) {
  const { description, expression, timeZone, next, holder, fence, leaseLeftMs, refusals } = cron;
  return (
    <Section title="Now" aside={<StateBadge cron={cron} />}>
      <Facts
        of={[
          ['Schedule', description],
          ['Expression', <code>{expression}</code>],
          ['Zone', timeZone],
          ['Next', next && <Instant at={next} zone={timeZone} relative />],
          ['Holder', holder],
          ['Fence', fence],
          ['Lease left', leaseLeftMs === null ? null : <Left ms={leaseLeftMs} at={at} />],
          ['Refused claims', refusals],
        ]}
      />
    </Section>
  );
}
