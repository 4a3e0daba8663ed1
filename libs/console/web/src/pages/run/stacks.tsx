import type { Attempt } from '../../data/types.js';
import { Section } from '../../ui/page.js';
import { WORDS } from '../../words.js';

/** The stack of the last failed attempt, and those before it below. */
export function Stacks({ attempts }: { readonly attempts: readonly Attempt[] }) {
  const failed = attempts.filter(({ stack, end }) => stack !== null || end === 'failed');
  const kept = failed.filter(({ stack }) => stack !== null);
  if (failed.length === 0) return null;
  return (
    <Section title={WORDS.run.stacks} aside={<span class="quiet">{WORDS.run.stacksKept}</span>}>
      {kept.length === 0 ? <p class="quiet">{WORDS.run.noStack}</p> : null}
      {kept.map(({ number, stack }, index) => (
        <details key={number} open={index === 0}>
          <summary>{WORDS.run.stackOf(number)}</summary>
          <pre class="code stack" role="region" aria-label={WORDS.run.stackLabel(number)} tabIndex={0}>
            {stack}
          </pre>
        </details>
      ))}
    </Section>
  );
}
