import { useLocation, useSearch, Link } from 'wouter-preact';
import { query, to } from '../../data/paths.js';
import { questions } from '../../data/questions.js';
import { useResource } from '../../data/resource.js';
import type { Forecast } from '../../data/types.js';
import { shownZone } from '../../time/zones.js';
import { Choice } from '../../ui/fields.js';
import { Instant } from '../../ui/instant.js';
import { Page, Section } from '../../ui/page.js';
import { TagField } from '../../ui/search-field.js';
import { Empty, Shown } from '../../ui/states.js';
import { WORDS } from '../../words.js';
import { Density } from './density.js';
import { DueAt } from './due-at.js';

const { upcoming: words } = WORDS;
const EVERY_MS = 60_000;
const DAY = '24';

interface View {
  readonly hours?: string | undefined;
  readonly at?: string | undefined;
  readonly tag?: string | undefined;
}

/** Range, tag and chosen instant are in the address, so that a view can be sent to somebody. */
export function UpcomingPage() {
  const set = new URLSearchParams(useSearch());
  const [, go] = useLocation();
  const hours = words.ranges.find(([value]) => value === set.get('hours'))?.[0] ?? DAY;
  const at = set.get('at');
  const view: View = {
    hours: hours === DAY ? undefined : hours,
    at: at ?? undefined,
    tag: set.get('tag') ?? undefined,
  };
  const change = (part: View) => go(`/upcoming${query({ ...view, ...part })}`, { replace: true });
  const choose = (chosen: string) => change({ at: chosen });
  const tagged = view.tag ? { tag: view.tag } : {};
  const asked = { hours: Number(hours), timeZone: shownZone(), ...tagged };
  const forecast = useResource(questions.forecast(asked), { everyMs: EVERY_MS, keeps: true });
  const filter = (
    <div class="filter">
      <TagField value={view.tag ?? ''} onChange={(tag) => change({ tag })} />
      <Choice
        label={words.range}
        value={hours}
        options={words.ranges}
        onChange={(value) => change({ hours: value === DAY ? undefined : value })}
      />
    </div>
  );
  return (
    <Page title={words.title}>
      <Section title={words.perHour} aside={filter}>
        <Shown of={forecast} what={words.perHour.toLowerCase()}>
          {(data) =>
            data.perHour.some(({ count }) => count > 0) ? <Density of={data} onChoose={choose} /> : <Nothing />
          }
        </Shown>
      </Section>
      <DueAt at={at} tagged={tagged} onChoose={choose} />
      {forecast.data ? <More of={forecast.data} onChoose={choose} /> : null}
    </Page>
  );
}

function Nothing() {
  return (
    <Empty title={words.nothing}>
      <p>{words.nothingText}</p>
    </Empty>
  );
}

interface MoreProps {
  readonly of: Forecast;
  readonly onChoose: (at: string) => void;
}

function More({ of, onChoose }: MoreProps) {
  return (
    <>
      <Stampedes of={of} onChoose={onChoose} />
      <ClockChanges of={of} />
      <Soon of={of} />
    </>
  );
}

const NAMED = 5;

function Stampedes({ of: { stampedes }, onChoose }: MoreProps) {
  return (
    <Section title={words.stampedes}>
      {stampedes.length === 0 ? (
        <p class="quiet">{words.noStampedes}</p>
      ) : (
        <ul class="plain-list">
          {stampedes.map(({ at, count, crons }) => (
            <li key={at}>
              <strong>{words.crons(count)}</strong> <Instant at={at} relative />{' '}
              <button type="button" class="plain" onClick={() => onChoose(at)}>
                {words.showAll}
              </button>
              <small class="under quiet">{words.stampede(crons.slice(0, NAMED), count)}</small>
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}

function ClockChanges({ of: { clockChanges } }: Pick<MoreProps, 'of'>) {
  return (
    <Section title={words.clockChanges}>
      {clockChanges.length === 0 ? (
        <p class="quiet">{words.noClockChanges}</p>
      ) : (
        <ul class="plain-list">
          {clockChanges.map(({ zone, at, text, crons }) => (
            <li key={zone + at}>
              <strong>{zone}</strong>, <Instant at={at} zone={zone} /> ({words.crons(crons)})
              <span class="under">{text}</span>
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}

const SHOWN_SOON = 20;

function Soon({ of: { next } }: Pick<MoreProps, 'of'>) {
  return (
    <Section title={words.next}>
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
