import type { Answers, BulkOrder, Deployment } from '../deployment/deployment.js';
import { EXIT, UsageError } from '../exit.js';
import type { Report } from '../report.js';
import { hanging } from '../table.js';
import type { World } from '../world.js';
import type { Command } from 'commander';

export interface BulkFlags {
  readonly tag?: string;
  readonly yes?: boolean;
}

export function withBulkOptions(command: Command): Command {
  return command
    .argument('[cron]', 'its name; or --tag')
    .option('--tag <tag>', 'instead: all crons with this tag; shows them first')
    .option('--yes', 'with --tag: skip the confirmation; required without a terminal');
}

/**
 * The one cron that is meant; `null`: those with the tag.
 * @throws {UsageError} for neither, and for both
 */
export function oneCron(cron: string | undefined, { tag, yes }: BulkFlags): string | null {
  if ((cron === undefined) === (tag === undefined)) {
    throw new UsageError('Expected either the name of a cron or --tag. Nothing was changed.');
  }
  if (cron !== undefined && yes) throw new UsageError('Expected --yes only with --tag. Nothing was changed.');
  return cron ?? null;
}

type Many = Omit<BulkOrder, 'dryRun' | 'expected' | 'tag'> & { readonly tag: string };

/** Shows which crons an order is about, asks, and gives it if they still are as many. */
export async function orderMany(
  order: Many,
  flags: BulkFlags,
  { deployment, world }: { readonly deployment: Deployment; readonly world: World },
): Promise<Report> {
  const preview = await deployment.orderMany({ ...order, dryRun: true });
  const { length: expected } = preview.crons;
  if (expected === 0) return reportOf(preview, [`No cron with the tag "${order.tag}" to ${order.order}.`]);
  world.err(
    `${VERB[order.order]} ${counted(expected)} with the tag "${order.tag}":\n  ${preview.crons.join('\n  ')}\n`,
  );
  if (!(await agreed(`Shall ${order.order} be ordered for ${counted(expected)}? [y/N] `, flags, world)))
    return reportOf(preview, ['Nothing was changed.'], EXIT.finding);
  const done = await deployment.orderMany({ ...order, dryRun: false, expected });
  return reportOf(done, sentences(done), done.failed.length === 0 ? EXIT.ok : EXIT.finding);
}

const VERB = { pause: 'Pauses', resume: 'Resumes', trigger: 'Triggers' } as const;
const DONE = { pause: 'paused', resume: 'resumed', trigger: 'triggered' } as const;

/** @throws {UsageError} where nobody can be asked, and nobody has said --yes */
async function agreed(question: string, { yes }: BulkFlags, { ask }: World): Promise<boolean> {
  if (yes) return true;
  if (!ask) throw new UsageError('Without a terminal, --yes is required. Nothing was changed.');
  return /^y(es)?$/i.test((await ask(question)).trim());
}

function sentences({ order, done, failed }: Answers['BulkResult']): string[] {
  const refused = failed.map(({ cron, detail }) => `${cron}: ${detail}`);
  return [`${counted(done.length)} ${DONE[order]}${failed.length === 0 ? '.' : `, ${failed.length} not:`}`, ...refused];
}

function counted(count: number): string {
  return `${count} cron${count === 1 ? '' : 's'}`;
}

function reportOf(json: Answers['BulkResult'], lines: readonly string[], code: number = EXIT.ok): Report {
  return { code, json, text: (width) => lines.flatMap((line) => hanging(line, width)) };
}
