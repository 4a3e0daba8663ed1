import type { Command } from 'commander';
import { instant, wholeNumber } from '../option-values.js';
import type { Answers } from '../deployment/deployment.js';

/** The question that is answered, as `fencepost uncertain` shows it: the run may ask another one by now. */
export interface QuestionFlags {
  readonly attempt: number;
  readonly effect: string;
  readonly item?: string;
  readonly since: number;
}

const MAX_ATTEMPTS = 1_000_000;

export function withQuestion(command: Command): Command {
  return command
    .requiredOption('--attempt <n>', 'attempt to resolve, as shown by "uncertain"', wholeNumber(1, MAX_ATTEMPTS))
    .requiredOption('--effect <name>', 'effect to resolve')
    .option('--item <key>', 'item to resolve, if any')
    .requiredOption('--since <instant>', 'time since which the outcome is unknown', instant);
}

export function questionIn({ attempt, effect, item, since }: QuestionFlags) {
  return { attempt, effect, item: item ?? null, since };
}

/** How to answer this question and no other, as a shell takes it: a line to copy, so it is not wrapped. */
export function resolveWith(
  { id, attempt }: Answers['Run'],
  { effect, item, since }: NonNullable<Answers['RunReport']['unresolvedEffect']>,
): string {
  const about = [...['--attempt', String(attempt), '--effect', effect], ...(item === null ? [] : ['--item', item])];
  const words = [...['fencepost', 'resolve', id], ...about, ...['--since', since]].map(quoted).join(' ');
  return `Answer with: ${words} --answer ... --reason ...`;
}

/** A word as a POSIX shell reads it back. */
function quoted(word: string): string {
  return /^[\w.,:/@%+=-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
