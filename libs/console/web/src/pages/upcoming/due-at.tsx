import { Link } from 'wouter-preact';
import { to } from '../../data/paths.js';
import { questions } from '../../data/questions.js';
import { useResource } from '../../data/resource.js';
import { instantText } from '../../time/instants.js';
import { shownZone } from '../../time/zones.js';
import { InstantQuestion } from '../../ui/instant-question.js';
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
      <InstantQuestion label={words.dueAtField} verb={words.show} at={at} onAsk={onChoose} />
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
