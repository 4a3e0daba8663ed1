import { Link } from 'wouter-preact';
import { questions } from '../../data/questions.js';
import { useResource } from '../../data/resource.js';
import type { Triage } from '../../data/types.js';
import { Badge } from '../../ui/badge.js';
import { CronNames } from '../../ui/cron-names.js';
import { Instant } from '../../ui/instant.js';
import { Section } from '../../ui/page.js';
import { Shown } from '../../ui/states.js';
import { WORDS } from '../../words.js';
import { addressOf } from './view.js';

const { home: words } = WORDS;
type Item = Triage['items'][number];
const EVERY_MS = 5_000;

/** What needs a person now; where nothing does, since when. */
export function TriageStrip() {
  const triage = useResource(questions.triage, { concerns: () => true, everyMs: EVERY_MS });
  return (
    <Section title={words.triage}>
      <Shown of={triage} what={words.triage.toLowerCase()}>
        {({ items, wellSince, unread }, isOld) => (
          <>
            {items.length === 0 ? <Well {...{ wellSince, unread, isOld }} /> : <Items items={items} />}
            {unread > 0 ? <p class="quiet">{words.unread(unread)}</p> : null}
          </>
        )}
      </Shown>
    </Section>
  );
}

interface WellProps extends Pick<Triage, 'wellSince' | 'unread'> {
  readonly isOld: boolean;
}

function Well({ wellSince, unread, isOld }: WellProps) {
  if (isOld) return <p>{words.wellThen}</p>;
  // What was not read yet may be wrong: nothing is said of it.
  if (unread > 0) return <p>{words.nothingFound}</p>;
  return (
    <p class="well">
      <Badge tone="good" text={words.well} />{' '}
      {wellSince === null ? null : (
        <>
          {words.since} <Instant at={wellSince} relative />
        </>
      )}
    </p>
  );
}

function Items({ items }: { readonly items: readonly Item[] }) {
  return (
    <ul class="plain-list">
      {items.map((item) => (
        <li key={item.code ?? item.kind}>
          <Badge tone={item.danger === 'error' ? 'bad' : 'warn'} text={words.kinds[item.kind]} /> {item.text}{' '}
          <Where item={item} />
        </li>
      ))}
    </ul>
  );
}

function Where({ item: { kind, count, crons } }: { readonly item: Item }) {
  if (kind === 'finding') return <Link href="/doctor">{words.finding}</Link>;
  const more = count - crons.length;
  return (
    <>
      <CronNames names={crons} max={crons.length} />
      {more > 0 ? (
        <>
          {' '}
          <Link href={addressOf({ state: kind })}>{WORDS.list.andMore(more)}</Link>
        </>
      ) : null}
    </>
  );
}
