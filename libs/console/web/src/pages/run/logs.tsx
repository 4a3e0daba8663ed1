import { useState } from 'preact/hooks';
import { Choice } from '../../ui/fields.js';
import { Section } from '../../ui/page.js';
import { SearchField } from '../../ui/search-field.js';
import { WORDS } from '../../words.js';
import { fittingLines, LEVELS } from './log-lines.js';

const OPTIONS = [['', WORDS.run.logAny], ...LEVELS.map((level) => [level, level] as const)] as const;

export function Logs({ lines }: { readonly lines: readonly string[] }) {
  const [level, setLevel] = useState('');
  const [words, setWords] = useState('');
  if (lines.length === 0) {
    return (
      <Section title={WORDS.run.logs}>
        <p class="quiet">{WORDS.run.noLogs}</p>
      </Section>
    );
  }
  const shown = fittingLines(lines, { level, words });
  const filter = (
    <span class="filter">
      <Choice label={WORDS.run.logLevel} value={level} options={OPTIONS} onChange={setLevel} />
      <SearchField placeholder="" value={words} onChange={setWords} />
    </span>
  );
  return (
    <Section title={WORDS.run.logs} aside={filter}>
      <p class="quiet" role="status">
        {WORDS.run.logCount(shown.length, lines.length)}
      </p>
      {shown.length === 0 ? (
        <p class="quiet">{WORDS.run.noLogFits}</p>
      ) : (
        <pre class="code logs" role="region" aria-label={WORDS.run.logLines} tabIndex={0}>
          {shown.map(({ level: of, whole }, index) => (
            <span key={index} class={`log-line ${of ?? ''}`}>
              {whole}
              {'\n'}
            </span>
          ))}
        </pre>
      )}
    </Section>
  );
}
