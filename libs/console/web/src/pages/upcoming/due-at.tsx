import { useEffect, useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { to } from '../../data/paths.js';
import { questions } from '../../data/questions.js';
import { useResource } from '../../data/resource.js';
import { instantText } from '../../time/instants.js';
import { shownZone } from '../../time/zones.js';
import { fieldOf, InstantField, isoOf } from '../../ui/fields.js';
import { Section } from '../../ui/page.js';
import { Shown } from '../../ui/states.js';
import { WORDS } from '../../words.js';

const { upcoming: words } = WORDS;

interface DueAtProps {
  /** `null` until one is chosen. */
  readonly at: string | null;
  /** Only crons with this tag, where there is one. */
  readonly tagged: { readonly tag?: string };
  readonly onChoose: (at: string) => void;
}

/** Which crons are due at one instant. */
export function DueAt({ at, tagged, onChoose }: DueAtProps) {
  const due = useResource(at === null ? null : questions.dueAt({ at, ...tagged }));
  return (
    <Section title={words.dueAt}>
      <Question {...{ at, onChoose }} />
      <div aria-live="polite">
        {at === null ? (
          <p class="quiet">{words.dueAtHint}</p>
        ) : (
          <Shown of={due} what={words.dueAt.toLowerCase()}>
            {({ crons, count, at: second }) => <Crons {...{ crons, count }} at={second} />}
          </Shown>
        )}
      </div>
    </Section>
  );
}

function Question({ at, onChoose }: Omit<DueAtProps, 'tagged'>) {
  const [value, setValue] = useState('');
  useEffect(() => setValue(at === null ? '' : fieldOf(at)), [at]);
  const submit = (event: Event) => {
    event.preventDefault();
    onChoose(isoOf(value));
  };
  return (
    <form class="ask" onSubmit={submit}>
      <InstantField label={words.dueAtField} value={value} onChange={setValue} required />
      <button type="submit">{words.show}</button>
    </form>
  );
}

interface CronsProps {
  readonly crons: readonly string[];
  readonly count: number;
  readonly at: string;
}

function Crons({ crons, count, at }: CronsProps) {
  const zone = shownZone();
  return (
    <>
      <p>
        <strong>{words.due(count, `${instantText(at, zone)} ${zone}`)}</strong>
      </p>
      <ul class="names">
        {crons.map((name) => (
          <li key={name}>
            <Link href={to.cron(name)}>{name}</Link>
          </li>
        ))}
      </ul>
      {count > crons.length ? <p class="quiet">{words.more(count - crons.length)}</p> : null}
    </>
  );
}
