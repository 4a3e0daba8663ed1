import { Link } from 'wouter-preact';
import { to } from '../../data/paths.js';
import type { RunReport } from '../../data/types.js';
import { CopyButton } from '../../ui/copy-button.js';
import { WORDS } from '../../words.js';

const { run: words } = WORDS;
const { commands } = words;

/** The runs beside this one, and what a colleague is sent. */
export function RunLinks({ run, neighbours: { previous, next } }: Pick<RunReport, 'run' | 'neighbours'>) {
  const { id, cron, scheduledAt, state } = run;
  const isOver = state === 'failed' || state === 'cancelled';
  return (
    <div class="buttons run-links">
      {previous === null && next === null ? null : (
        <nav class="buttons" aria-label={words.neighbours}>
          {previous === null ? null : <Link href={to.run(previous)}>← {words.previous}</Link>}
          {next === null ? null : <Link href={to.run(next)}>{words.next} →</Link>}
        </nav>
      )}
      <CopyButton label={words.copyLink} text={() => location.href} />
      <CopyButton label={words.copyRun} text={() => commands.run(id)} />
      <CopyButton label={words.copyWhy} text={() => commands.why(cron, scheduledAt)} />
      {isOver ? <CopyButton label={words.copyRetry} text={() => commands.retry(id)} /> : null}
    </div>
  );
}
