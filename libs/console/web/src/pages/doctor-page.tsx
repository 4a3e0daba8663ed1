import { questions } from '../data/questions.js';
import { useResource } from '../data/resource.js';
import type { DoctorFinding, Level } from '../data/types.js';
import { LevelBadge } from '../ui/badge.js';
import { Page, Section } from '../ui/page.js';
import { Empty, Shown } from '../ui/states.js';
import { WORDS } from '../words.js';

const { doctor: words } = WORDS;
/** The worst first. */
const ORDER: readonly Level[] = ['bad', 'warn', 'note', 'ok'];
const EVERY_MS = 30_000;

export function DoctorPage() {
  const findings = useResource(questions.doctor, { everyMs: EVERY_MS });
  const again = (
    <button type="button" onClick={findings.reload}>
      {words.again}
    </button>
  );
  return (
    <Page title={words.title}>
      <Section title={words.findings} aside={again}>
        <Shown of={findings} what={words.findings.toLowerCase()}>
          {({ items }) => <Findings items={items} />}
        </Shown>
      </Section>
    </Page>
  );
}

function Findings({ items }: { readonly items: readonly DoctorFinding[] }) {
  if (items.length === 0) return <Empty title={words.nothing} />;
  const sorted = items.toSorted((a, b) => ORDER.indexOf(a.level) - ORDER.indexOf(b.level));
  return (
    <ul class="findings">
      {sorted.map(({ code, level, subject, text, todo }) => (
        <li key={code + subject} class={`finding ${level}`}>
          <p>
            <LevelBadge level={level} /> <strong>{subject}</strong>
          </p>
          <p>{text}</p>
          {todo === null ? null : <p class="todo">{todo}</p>}
        </li>
      ))}
    </ul>
  );
}
