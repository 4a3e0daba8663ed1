import { cronQuestions } from '../../data/questions.js';
import { useResource } from '../../data/resource.js';
import type { CronDetail, TimelineItem } from '../../data/types.js';
import { HealthBadge } from '../../ui/badge.js';
import { Facts } from '../../ui/facts.js';
import { Instant, Left } from '../../ui/instant.js';
import { Section } from '../../ui/page.js';
import { Shown } from '../../ui/states.js';
import { WORDS } from '../../words.js';
import { CronRuns } from './cron-runs.js';

const { cron: words, heads } = WORDS;

interface NowProps {
  readonly cron: CronDetail;
  /** When it was read, epoch milliseconds of this machine. */
  readonly at: number;
}

const SHOWN_RUNS = 5;

/** Its state, what comes next, and what happened last. */
export function NowTab({ cron, at }: NowProps) {
  return (
    <>
      <Glance cron={cron} at={at} />
      <Next cron={cron} />
      <CronRuns cron={cron} limit={SHOWN_RUNS} />
    </>
  );
}

function Glance({ cron, at }: NowProps) {
  const { scheduleText, expression, timeZone, next, holder, fence, leaseLeftMs, refusals } = cron;
  return (
    <Section title={words.now} aside={<State cron={cron} />}>
      <Facts
        of={[
          [heads.schedule, scheduleText],
          [heads.expression, <code>{expression}</code>],
          [heads.zone, timeZone],
          [heads.next, next && <Instant at={next} zone={timeZone} relative />],
          [heads.holder, holder],
          [heads.fence, fence],
          [words.leaseLeft, leaseLeftMs === null ? null : <Left ms={leaseLeftMs} at={at} />],
          [words.refusedClaims, refusals],
        ]}
      />
    </Section>
  );
}

function State({ cron }: { readonly cron: CronDetail }) {
  return (
    <>
      <HealthBadge cron={cron} /> {cron.manual ? <small class="quiet">{WORDS.home.manual}</small> : null}
    </>
  );
}

const MAX_NEXT = 5;
/** As far ahead as the API looks at once. */
const LOOKED_MS = 92 * 86_400_000;

function Next({ cron: { name, next, timeZone } }: { readonly cron: CronDetail }) {
  const range = next === null ? null : { from: next, to: laterThan(next), limit: MAX_NEXT };
  const ahead = useResource(range === null ? null : cronQuestions.timeline(name, range), { keeps: true });
  return (
    <Section title={words.next}>
      {next === null ? (
        <p class="quiet">{words.noNext}</p>
      ) : (
        <Shown of={ahead} what={words.next}>
          {({ items }) => <Instants at={[next, ...aheadIn(items)]} zone={timeZone} />}
        </Shown>
      )}
    </Section>
  );
}

function laterThan(next: string): string {
  return new Date(Date.parse(next) + LOOKED_MS).toISOString();
}

function aheadIn(items: readonly TimelineItem[]): readonly string[] {
  return items.flatMap(({ outcome, scheduledAt }) => (outcome === 'ahead' ? [scheduledAt] : []));
}

function Instants({ at, zone }: { readonly at: readonly string[]; readonly zone: string }) {
  return (
    <ol class="plain-list">
      {[...new Set(at)].slice(0, MAX_NEXT).map((one) => (
        <li key={one}>
          <Instant at={one} zone={zone} relative />
        </li>
      ))}
    </ol>
  );
}
