import { formatFence, parseFence } from '@fencepost/lease';
import { Command, InvalidArgumentError, Option } from 'commander';
import type { ClearedLease, ClearedOwnLease, Deployment, MovedLease, OwnKind } from '../deployment/deployment.js';
import { withDeployment, withDeploymentOptions, type DeploymentFlags } from '../deployment/with-deployment.js';
import { EXIT, UsageError } from '../exit.js';
import { CRON_NAME, UnknownCronError } from '../jobs.js';
import { duration, words } from '../option-values.js';
import { whileWorking } from '../progress.js';
import type { Report } from '../report.js';
import { hanging } from '../table.js';
import type { Setting, World } from '../world.js';
import { warningOf, type Target } from './leases-clear-words.js';
import { withBy, type OrderFlags } from './orders.js';
import { withOutput } from '../output.js';

interface Flags extends DeploymentFlags, OrderFlags {
  readonly reason: string;
  readonly yes?: boolean;
  readonly downstreamSafe?: boolean;
  readonly kind?: 'cron' | OwnKind;
  readonly fence?: string;
  readonly watch: number;
}

const ABOUT =
  'Clears the lease of a cron, a lease of the application itself, one place of a semaphore or the role of an election, whose ' +
  'holder is dead, so that another acquires it at once; writes an audit record; then watches for duplicates. Says what it is ' +
  'and asks for confirmation, also that its downstream is safe. Prefer to wait for the ttl. Fails (1) if the lease had changed, ' +
  'or the watch saw a duplicate.';

export function clearCommand({ world, answer }: Setting): Command {
  const command = new Command('clear')
    .summary('clear the lease of a dead holder')
    .description(ABOUT)
    .argument('<name>', 'of the cron, the lease, the semaphore or the role, as "fencepost leases" shows it')
    .requiredOption('--reason <words>', 'reason, kept in the audit trail', words)
    .option('--yes', 'skip the confirmation; required without a terminal')
    .option(
      '--downstream-safe',
      'confirm that nothing is damaged if the old holder still writes; with --yes, except for crons',
    )
    .addOption(new Option('--kind <kind>', 'which, where several have the name').choices(KINDS))
    .option(
      '--fence <number>',
      'only while the lease has this fence ("fencepost leases"); which place of a semaphore',
      fence,
    )
    .option('--watch <duration>', 'how long to watch for duplicates afterwards; 0s: not at all', duration, 30_000);
  return withOutput(withDeploymentOptions(withBy(command))).action(async (name: string, own: Flags) => {
    // What stands before "clear", such as where the store is, is meant as well.
    const flags: Flags = { ...command.parent?.opts(), ...own };
    answer(await withDeployment(flags, world, (deployment) => clear(name, flags, { deployment, world })), flags);
  });
}

const KINDS = ['cron', 'lease', 'semaphore', 'election', 'flight'] as const;

async function clear(name: string, flags: Flags, around: Around): Promise<Report> {
  const { deployment, world } = around;
  const seen = await targetOf(name, flags, deployment);
  if (seen === null) return nothingHeld(name, deployment);
  const expected = flags.fence ?? seen.lease.fence;
  if (expected === seen.lease.fence && !(await agreed(seen, flags, world))) return notCleared(seen);
  const reply = await cleared(seen, expected, { flags, deployment });
  if (!('cleared' in reply)) return movedReport(seen, reply);
  return clearedReport(seen, reply, await watched(seen, reply, { flags, world }));
}

interface Around {
  readonly deployment: Deployment;
  readonly world: World;
}

/** @throws {UsageError} where several are meant */
async function targetOf(name: string, { kind, fence: meant }: Flags, deployment: Deployment): Promise<Target | null> {
  const { held } = await deployment.leases({ cron: name });
  const crons = held.filter(({ cron }) => cron === name).map((lease): Target => ({ kind: 'cron', name, lease }));
  const own = await deployment.ownLeasesNamed(name);
  const all = [...crons, ...own.map((lease): Target => ({ kind: lease.kind, name, lease }))];
  const ofKind = all.filter((one) => kind === undefined || one.kind === kind);
  const exact = ofKind.filter(({ lease }) => lease.fence === meant);
  const [first = null, ...others] = exact.length > 0 ? exact : ofKind;
  if (others.length === 0) return first;
  const lines = ofKind.map((one) => `${one.kind} with fence ${one.lease.fence}, of ${one.lease.holder}`);
  throw new UsageError(
    `Expected --fence or --kind, since ${name} is held as: ${lines.join('; ')}. Nothing was changed.`,
  );
}

/** @throws {UsageError} where nobody can be asked, and nobody has said --yes */
async function agreed(seen: Target, flags: Flags, { ask, err }: World): Promise<boolean> {
  err(`${warningOf(seen)}\n`);
  const isSaid = seen.kind === 'cron' || flags.downstreamSafe === true;
  if (flags.yes && isSaid) return true;
  if (flags.yes || !ask) {
    const needed = seen.kind === 'cron' ? '--yes is required' : '--yes is required, and --downstream-safe';
    throw new UsageError(
      flags.yes
        ? `With --yes, --downstream-safe is required. Nothing was changed.`
        : `Without a terminal, ${needed}. Nothing was changed.`,
    );
  }
  const question = `Is its downstream safe, and shall the lease of ${seen.name} with fence ${seen.lease.fence} be cleared? [y/N] `;
  return /^y(es)?$/i.test((await ask(question)).trim());
}

interface Clearing {
  readonly flags: Flags;
  readonly deployment: Deployment;
}

type Cleared = ClearedLease | ClearedOwnLease;

function cleared(seen: Target, expected: string, { flags, deployment }: Clearing): Promise<Cleared | MovedLease> {
  const { reason } = flags;
  if (seen.kind === 'cron') return deployment.clearLease(seen.name, { reason, fence: expected });
  return deployment.clearOwnLease({ ...seen.lease, fence: expected }, { reason });
}

type Watched = Awaited<ReturnType<Cleared['watch']>>;

async function watched(
  { name }: Target,
  reply: Cleared,
  { flags: { watch: ms }, world }: { readonly flags: Flags; readonly world: World },
): Promise<Watched | null> {
  if (ms === 0) return null;
  world.err(`The lease of ${name} is cleared. Watching for duplicates for ${ms / 1_000} s; Ctrl-C stops early.\n`);
  return whileWorking(`Watching ${name}`, world, () => reply.watch(ms, world.interrupted()));
}

/** @throws {UsageError} for a name that is no cron's either */
async function nothingHeld(name: string, deployment: Deployment): Promise<Report> {
  const hint = CRON_NAME.test(name) ? await hintFor(name, deployment) : '';
  if (hint !== null) {
    throw new UsageError(
      `Nobody holds a lease named "${name}", and it is no cron: "fencepost leases" lists what is held.${hint}`,
    );
  }
  const text = `The lease of ${name} has no holder, so there is nothing to clear. A pod will acquire it.`;
  return { code: EXIT.ok, json: { cron: name, verdict: 'free' }, text: (width) => hanging(text, width) };
}

/** `null` for a cron; else which one may be meant. */
async function hintFor(name: string, deployment: Deployment): Promise<string | null> {
  try {
    await deployment.cron(name);
    return null;
  } catch (error) {
    const isUnknown = error instanceof UnknownCronError || Reflect.get(Object(error), 'problem') === 'CRON_UNKNOWN';
    if (!isUnknown || !(error instanceof Error)) throw error;
    const [hint = ''] = / Did you mean .*\?/.exec(error.message) ?? [];
    return hint;
  }
}

function about({ kind, name }: Target): object {
  return kind === 'cron' ? { cron: name } : { kind, resource: name };
}

function notCleared(seen: Target): Report {
  const text = `The lease of ${seen.name} was not changed.`;
  return { code: EXIT.finding, json: { ...about(seen), verdict: 'declined' }, text: (width) => hanging(text, width) };
}

function movedReport(seen: Target, { message, found }: MovedLease): Report {
  return {
    code: EXIT.finding,
    json: { ...about(seen), verdict: 'moved', found },
    text: (width) => hanging(message, width),
  };
}

function clearedReport(seen: Target, { cleared: old, next }: Cleared, watch: Watched | null): Report {
  const holding = watch ? watch.holding : next;
  const now = holding ? `${holding.holder} holds it now, with fence ${holding.fence}` : 'it has no holder yet';
  const free =
    seen.kind === 'cron' ? 'no pod has acquired the lease: check "fencepost pods".' : 'nobody has acquired it.';
  const lines = [
    `The lease of ${seen.name} with fence ${old.fence}, of ${old.holder}, is cleared; ${now}.`,
    ...(watch?.observations ?? []).map(({ level, text }) => `${level.toUpperCase()}: ${text}`),
    ...(watch?.verdict === 'clean' ? ['No duplicate was seen.'] : []),
    ...(watch?.verdict === 'free' ? [`No duplicate was seen, but ${free}`] : []),
  ];
  return {
    code: isFine(seen, watch) ? EXIT.ok : EXIT.finding,
    json: { ...about(seen), verdict: 'cleared', cleared: old, next, watch },
    text: (width) => lines.flatMap((line) => hanging(line, width)),
  };
}

/** A cron that nobody takes stands still; a lease of the application may be wanted by nobody for now. */
function isFine({ kind }: Target, watch: Watched | null): boolean {
  return watch === null || watch.verdict === 'clean' || (watch.verdict === 'free' && kind !== 'cron');
}

function fence(text: string): string {
  try {
    return formatFence(parseFence(text));
  } catch {
    throw new InvalidArgumentError('Give the fence as "fencepost leases" shows it.');
  }
}
