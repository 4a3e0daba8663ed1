import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { to } from '../data/paths.js';
import { questions } from '../data/questions.js';
import { useResource } from '../data/resource.js';
import type { DueCalculator } from '../data/types.js';
import { hourText } from '../time/instants.js';
import { shownZone } from '../time/zones.js';
import { Choice } from '../ui/fields.js';
import { Instant, ZoneNote } from '../ui/instant.js';
import { Page, Section } from '../ui/page.js';
import { Empty, Shown } from '../ui/states.js';

const EVERY_MS = 60_000;

const HOURS = [
  ['24', '24 hours'],
  ['72', '3 days'],
  ['168', '7 days'],
] as const;

export function UpcomingPage() {
  const [hours, setHours] = useState('24');
  const forecast = useResource(questions.forecast(Number(hours)), { everyMs: EVERY_MS, keeps: true });
  return (
    <Page title="Upcoming" intro="Next due runs, stampedes and clock changes.">
      <Section
        title="Due per hour"
        aside={<Choice label="The next" value={hours} options={HOURS} onChange={setHours} />}
      >
        <Shown of={forecast} what="the forecast">
          {(data) => <PerHour of={data} />}
        </Shown>
      </Section>
      {forecast.data ? <More of={forecast.data} /> : null}
    </Page>
  );
}

function PerHour({ of: { perHour } }: { readonly of: DueCalculator }) {
  const most = Math.max(1, ...perHour.map(({ count }) => count));
  const zone = shownZone();
  if (perHour.every(({ count }) => count === 0)) {
    return (
      <Empty title="Nothing is due">
        <p>No cron fires in this range. Check for paused or disabled crons.</p>
      </Empty>
    );
  }
  return (
    <>
      <ol class="bars" aria-label="Runs due in each hour">
        {perHour.map(({ at, count }) => (
          <li key={at}>
            <span class="bars-label">{hourText(at, zone)}</span>
            <span class="bar-of" style={{ width: `${(count / most) * 100}%` }} />
            <span class="bars-value">{count.toLocaleString('en')}</span>
          </li>
        ))}
      </ol>
      <ZoneNote />
    </>
  );
}

function More({ of }: { readonly of: DueCalculator }) {
  return (
    <>
      <Stampedes of={of} />
      <ClockChanges of={of} />
      <Soon of={of} />
    </>
  );
}

function Stampedes({ of: { stampedes } }: { readonly of: DueCalculator }) {
  return (
    <Section title="Many at once">
      {stampedes.length === 0 ? (
        <p class="quiet">No stampedes.</p>
      ) : (
        <ul class="plain-list">
          {stampedes.map(({ at, count, crons }) => (
            <li key={at}>
              <strong>{count} crons</strong> at <Instant at={at} relative />
              <small class="under quiet">
                {crons.slice(0, 5).join(', ')}
                {count > 5 ? ` and ${count - 5} more` : ''}. Set a spread, or use other minutes.
              </small>
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}

function ClockChanges({ of: { clockChanges } }: { readonly of: DueCalculator }) {
  return (
    <Section title="Clock changes">
      {clockChanges.length === 0 ? (
        <p class="quiet">No clock changes affect these crons.</p>
      ) : (
        <ul class="plain-list">
          {clockChanges.map(({ zone, at, text, crons }) => (
            <li key={zone + at}>
              <strong>{zone}</strong>, <Instant at={at} zone={zone} /> ({crons} crons)
              <span class="under">{text}</span>
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}

const SHOWN_SOON = 20;

function Soon({ of: { next } }: { readonly of: DueCalculator }) {
  return (
    <Section title="Next to fire">
      <ol class="plain-list">
        {next.slice(0, SHOWN_SOON).map(({ cron, at }) => (
          <li key={cron + at}>
            <Link href={to.cron(cron)}>{cron}</Link> <Instant at={at} relative />
          </li>
        ))}
      </ol>
    </Section>
  );
}
