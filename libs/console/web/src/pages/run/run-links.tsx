import { Link } from 'wouter-preact';
import { to } from '../../data/paths.js';
import type { RunReport } from '../../data/types.js';
import { CopyButton } from '../../ui/copy-button.js';
import { WORDS } from '../../words.js';
import { commandLines } from './command-lines.js';

/** The runs beside this one, and what a colleague is sent. */
export function RunLinks({ run, neighbours: { previous, next } }: Pick<RunReport, 'run' | 'neighbours'>) {
  const { run: show, why, retry } = commandLines(run);
  return (
    <div class="buttons run-links">
      <nav class="buttons" aria-label={WORDS.run.neighbours}>
        {previous === null ? null : <Link href={to.run(previous)}>← {WORDS.run.previous}</Link>}
        {next === null ? null : <Link href={to.run(next)}>{WORDS.run.next} →</Link>}
      </nav>
      <CopyButton label={WORDS.run.copyLink} text={() => location.href} />
      <CopyButton label={WORDS.run.copyRun} text={() => show} />
      <CopyButton label={WORDS.run.copyWhy} text={() => why} />
      {retry === null ? null : <CopyButton label={WORDS.run.copyRetry} text={() => retry} />}
    </div>
  );
}
