import { Command } from 'commander';
import type { Answers } from '../deployment/deployment.js';
import { withDeployment, withDeploymentOptions, type DeploymentFlags } from '../deployment/with-deployment.js';
import { EXIT } from '../exit.js';
import type { BackfillProgress } from '../jobs.js';
import { instant, words } from '../option-values.js';
import { iso, shortIso, type Report } from '../report.js';
import { hanging, table } from '../table.js';
import type { Setting, World } from '../world.js';
import { withBy, type OrderFlags } from './orders.js';
import { withOutput } from '../output.js';

interface Flags extends DeploymentFlags, OrderFlags {
  readonly from: number;
  readonly to: number;
  readonly dryRun?: boolean;
  readonly reason: string;
}

const ABOUT =
  'Runs the instants of a past range that did not run, after all other waiting runs. Instants that ran are not repeated, so ' +
  'you can stop it (Ctrl-C) and start it again.';

export function backfillCommand({ world, answer }: Setting): Command {
  const command = new Command('backfill')
    .summary('run past instants that did not run')
    .description(ABOUT)
    .argument('<cron>', 'its name')
    .requiredOption('--from <instant>', 'start of the range, inclusive', instant)
    .requiredOption('--to <instant>', 'end of the range, exclusive', instant)
    .requiredOption('--reason <words>', 'reason, kept in the audit trail', words)
    .option('--dry-run', 'show what would be done, without changes');
  return withOutput(withDeploymentOptions(withBy(command))).action(async (cron: string, flags: Flags) => {
    const { from, to, reason, dryRun = false } = flags;
    const line = new ProgressLine(cron, world);
    const onProgress = (progress: BackfillProgress) => line.show(progress);
    const order = { from, to, dryRun, reason, interrupted: world.interrupted, onProgress };
    try {
      const done = await withDeployment(flags, world, (deployment) => deployment.backfill(cron, order));
      line.end();
      answer(reportOf(done, flags), flags);
    } catch (error) {
      line.end();
      throw error;
    }
  });
}

function reportOf(done: Answers['Backfill'], flags: Flags): Report {
  const { from, to } = flags;
  const { cron, dryRun, instants, accepted, left, aborted, nextFrom } = done;
  const rows = Object.entries(left).map(([state, count]) => [
    '',
    `${count}`,
    `not repeated: ${REASONS[state] ?? state}`,
  ]);
  const verb = dryRun ? 'would run' : 'enqueued';
  const goOn = nextFrom === null ? null : commandFrom(nextFrom, cron, flags);
  return {
    code: aborted ? EXIT.finding : EXIT.ok,
    json: { ...done, from: iso(from), to: iso(to), goOn },
    text: (width) => [
      ...hanging(`${cron} has ${instants} instants from ${shortIso(from)} to ${shortIso(to)}.`, width),
      ...table([['', `${accepted}`, verb], ...rows], width),
      ...(dryRun && accepted > 0 ? hanging(estimateText(done), width) : []),
      ...(goOn === null || nextFrom === null
        ? []
        : [...hanging(`Stopped before ${shortIso(nextFrom)}. To continue:`, width), `  ${goOn}`]),
    ],
  };
}

const REASONS: Readonly<Record<string, string>> = {
  ahead: 'in the future, left to the schedule',
  forgotten: 'record expired; it may have run',
};

function estimateText({ estimateMs }: Answers['Backfill']): string {
  return estimateMs === null
    ? 'No estimate of the duration: its runs may overlap, or none has succeeded recently.'
    : `Estimated from earlier runs: about ${spokenDuration(estimateMs)}.`;
}

/** What a shell takes to go on; an address with credentials is left to the environment. */
function commandFrom(from: string, cron: string, flags: Flags): string {
  const { redis, postgres, url, prefix, tenant, schema, by, to, reason } = flags;
  const given = Object.entries({ url, prefix, tenant, schema, by }).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}`, quoted(value)],
  );
  const address = (name: string, at: string | undefined, variable: string) =>
    at === undefined ? [] : [`--${name}`, at.includes('@') ? `"$${variable}"` : quoted(at)];
  return [
    ...['fencepost', 'backfill', quoted(cron), '--from', from, '--to', iso(to), '--reason', quoted(reason)],
    ...[...address('redis', redis, 'REDIS_URL'), ...address('postgres', postgres, 'DATABASE_URL'), ...given],
  ].join(' ');
}

function quoted(text: string): string {
  return /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** Where no terminal rewrites a line, a new one comes this often at most. */
const LINE_EVERY_MS = 10_000;
const REWRITE_EVERY_MS = 200;

const MINUTE_MS = 60_000;

/** Says on stderr how far a backfill has come: count, total, rate and the time that is left. */
class ProgressLine {
  readonly #since: number;
  #shownAt = -Infinity;
  #shown = '';

  constructor(
    private readonly cron: string,
    private readonly world: Pick<World, 'err' | 'errTerminal' | 'now'>,
  ) {
    this.#since = world.now();
  }

  show(progress: BackfillProgress): void {
    const now = this.world.now();
    const { errTerminal = false } = this.world;
    const isOver = progress.asked === progress.instants;
    if (!isOver && now - this.#shownAt < (errTerminal ? REWRITE_EVERY_MS : LINE_EVERY_MS)) return;
    const line = `${this.cron}: ${progressText(progress, now - this.#since)}`;
    if (line === this.#shown) return;
    [this.#shownAt, this.#shown] = [now, line];
    this.world.err(errTerminal ? `\r\u001B[2K${line}` : `${line}\n`);
  }

  end(): void {
    if (this.world.errTerminal && this.#shown !== '') this.world.err('\n');
  }
}

function progressText({ instants, asked, accepted, open }: BackfillProgress, elapsedMs: number): string {
  const done = asked - open;
  const perMinute = elapsedMs === 0 ? 0 : (done * MINUTE_MS) / elapsedMs;
  const rate = perMinute === 0 ? '' : `, ${perMinute < 10 ? perMinute.toFixed(1) : Math.round(perMinute)} per minute`;
  const left = instants - asked;
  const rest =
    left === 0 || perMinute === 0 ? '' : `, about ${spokenDuration((left / perMinute) * MINUTE_MS)} remaining`;
  return `${asked} of ${instants} instants requested, ${accepted} accepted, ${open} still open${rate}${rest}`;
}

/** Rounded for an estimate: `40 s`, `12 min`, `3 h 20 min`. */
function spokenDuration(ms: number): string {
  const seconds = Math.max(1, Math.round(ms / 1_000));
  if (seconds < 90) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 90) return `${minutes} min`;
  const rest = minutes % 60;
  return `${Math.floor(minutes / 60)} h${rest === 0 ? '' : ` ${rest} min`}`;
}
