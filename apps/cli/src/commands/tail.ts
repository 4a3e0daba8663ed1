import { systemClock } from '@fencepost/lease';
import { Command, Option } from 'commander';
import type { Answers, Deployment } from '../deployment/deployment.js';
import { withDeployment, withDeploymentOptions, type DeploymentFlags } from '../deployment/with-deployment.js';
import { paint } from '../colour.js';
import { EXIT } from '../exit.js';
import { eventSentence, type EventLevel } from '../jobs.js';
import { positiveDuration } from '../option-values.js';
import { printed, withOutput, type OutputFlags } from '../output.js';
import type { Setting, World } from '../world.js';

type Entry = Answers['JournalEntry'];

const LEVEL_COLOR = { debug: 'gray', info: 'green', warn: 'yellow', error: 'red' } as const;

/** What would move the cursor or change the colours of the terminal: whoever names a cron or throws an error could write it. */
const CONTROLS = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** One entry of the journal as a person reads it: when, how loud, who, what, of which cron, and what it carries. */
function entryLine(entry: Entry): string {
  const { at, level, event, pod, cron } = entry;
  const color = LEVEL_COLOR[level] ?? 'gray';
  return [
    paint('gray', new Date(at).toISOString().slice(11, 23)),
    paint(color, shown(level).toUpperCase().padEnd(5)),
    paint('bold', shown(event).padEnd(20)),
    paint('cyan', shown(cron ?? '-')),
    eventSentence(event, entry.detail),
    paint('gray', ['', ...carried(entry), `pod=${shown(pod)}`].join(' ').trim()),
  ]
    .filter((part) => part !== '')
    .join('  ');
}

function carried({ runId, detail }: Entry): string[] {
  const all = { ...(runId === null ? {} : { run: runId }), ...detail };
  return Object.entries(all).flatMap(([name, value]) => (value === null ? [] : `${shown(name)}=${valueText(value)}`));
}

function valueText(value: unknown): string {
  if (typeof value === 'string' && /^[\w.:/@+-]+$/.test(value)) return value;
  return shown(JSON.stringify(value) ?? 'none');
}

function shown(text: string): string {
  return text.replace(CONTROLS, '·');
}

interface Flags extends DeploymentFlags, OutputFlags {
  readonly cron?: string;
  readonly level?: EventLevel;
  readonly since?: number;
  readonly for?: number;
}

const LEVELS = ['info', 'warn', 'error'] as const satisfies readonly EventLevel[];

const ABOUT =
  'Follows the journal of all pods until Ctrl-C, one line per event. For ' +
  'people: a busy pod drops ordinary events, and events during a store outage may be ' +
  'missing. The ledger has the truth about each run.';

export function tailCommand({ world }: Setting): Command {
  const command = new Command('tail')
    .summary('follow the journal')
    .description(ABOUT)
    .option('--cron <name>', 'only events of this cron or job')
    .addOption(new Option('--level <level>', 'minimum level').choices(LEVELS))
    .option('--since <duration>', 'start this long ago, such as 10m', positiveDuration)
    .option('--for <duration>', 'stop after this long', positiveDuration);
  return withOutput(withDeploymentOptions(command)).action((flags: Flags) =>
    withDeployment(flags, world, (deployment) => tail(deployment, flags, world)),
  );
}

async function tail(deployment: Deployment, flags: Flags, world: World): Promise<void> {
  const isWanted = filterOf(flags);
  const line = lineOf(flags, world);
  await deployment.follow({
    after: startOf(flags, world),
    signal: endOf(world, flags.for),
    show: (entry) => void (isWanted(entry) && world.out(line(entry))),
    onTrouble: (reason) => world.err(`The journal cannot be read (${reason}). Retrying; Ctrl-C stops.\n`),
  });
}

function filterOf({ cron, level }: Flags): (entry: Entry) => boolean {
  const loud = LEVELS.slice(level === undefined ? 0 : LEVELS.indexOf(level as (typeof LEVELS)[number]));
  return (entry) =>
    (cron === undefined || isAbout(entry, cron)) && (level === undefined || loud.some((one) => one === entry.level));
}

/** Some are about several crons at once, as what a build no longer has. */
function isAbout({ cron, detail }: Entry, wanted: string): boolean {
  const several: unknown = detail['crons'];
  return cron === wanted || (Array.isArray(several) && several.includes(wanted));
}

/** Each entry as an answer of its own: with -o json one object a line, with -o name the id. */
function lineOf(flags: Flags, world: World): (entry: Entry) => string {
  return (entry) =>
    printed({ code: EXIT.ok, json: entry, names: [entry.id], text: () => [entryLine(entry)] }, flags, world);
}

/** The id of what could have been the last entry before; none: from now. */
function startOf({ since }: Flags, { now }: World): string | null {
  return since === undefined ? null : `${Math.max(0, now() - since)}-0`;
}

function endOf({ interrupted, unread }: World, forMs: number | undefined): AbortSignal {
  const ends = [interrupted(), ...(unread ? [unread()] : [])];
  if (forMs === undefined) return AbortSignal.any(ends);
  const over = new AbortController();
  systemClock.after(forMs, () => over.abort());
  return AbortSignal.any([...ends, over.signal]);
}
