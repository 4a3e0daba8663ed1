import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { chaos, type ChaosOptions } from './chaos.js';
import { FULL, SHORT, type Part } from './forms.js';
import { LEASE_SYSTEMS } from './leases/lease-system.js';

const HELP = `npm run chaos -- [--seconds 60] [--ledger redis|postgres] [--seed n] [--topologies single,sentinel,cluster] [--pace 3]
                        [--leases quorum|etcd] [--wipe-redis] [--deploys] [--mixed] [--short] [--keep folder] [--verbose] [--json]

Schedulers and workers as processes, on real Redis, BullMQ and PostgreSQL, while a nemesis kills, freezes, cuts off, delays,
wipes and restarts what it can; it has --seconds for it, and what follows is the time until all is settled. An oracle outside
compares what the sinks saw with what should have been, and definitions that were changed at run time with what was ordered
(with --ledger postgres). --leases keeps the leases of crons on a quorum of five servers of their own, or in three of etcd: a
minority of them is killed, which changes nothing, and a majority, while which nobody may claim. --wipe-redis empties Redis every few seconds; it needs --ledger postgres. --deploys
deploys new code and new configuration, rolls back and scales down to none beside all that. --mixed lets pods of the format before, built from the history
of this repository, take turns with those of this one; it needs --ledger redis. --pace is how many
processes are hurt at the same time, of twice as many; each wants a part of a processor. --short is one server, and only the
faults that strike within seconds on any machine. --keep leaves in the folder what was recorded, and the histories that no
object could have had. The last line is a JSON object:
  ok             missed … stuckAfterHeal, unexplained, notLinearizable, notConforming, definitionsLost and silentChanges are 0, "never" is
                 empty, nobody fell
  longestStallMs how long a cron began nothing after all was healed, because of a run that no worker had begun; at most 3000
  faults         how often each kind struck; processFaults: those of processes together
  occurrences    instants that came due; missed, doubled: those without a run, and with more than one
  staleAccepted  writes that a sink took from somebody who was replaced; controlDuplicates: what happens without any of this
  claimedWithoutLeases  claims begun while a majority of the servers of --leases was away for longer than the ttl
  silentChanges  changes of definitions of which no pod told; untoldChanges: those whose pod ended before it could; changes: all
  definitionsLost  changes, removals, pauses, crons made at run time and audit records that did not last
  never          what has to happen for the run to say something, and did not
  fallen         processes that ended although nobody had hurt them
  formats        with --mixed: processes of the format before, and how often the last of them had gone; both have to be above 0`;

const MAX_S = 24 * 3_600;
const SEEDS = 2 ** 31;
const MAX_PACE = 32;
const FLAG = { type: 'boolean', default: false } as const;
const FLAGS = { 'wipe-redis': FLAG, deploys: FLAG, mixed: FLAG, short: FLAG, json: FLAG, verbose: FLAG, help: FLAG };

type Asked = Pick<
  ChaosOptions,
  'seconds' | 'ledger' | 'wipeRedis' | 'deploys' | 'seed' | 'form' | 'pace' | 'keepIn' | 'leases' | 'mixed'
> & {
  readonly json: boolean;
  readonly verbose: boolean;
};

function asked(): Asked | 'help' {
  const { values } = parseArgs({
    // After the program's own name, and its runner's.
    args: process.argv.slice(3),
    options: {
      ...{ seconds: { type: 'string', default: '60' }, ledger: { type: 'string', default: 'redis' } },
      ...{
        topologies: { type: 'string' },
        leases: { type: 'string' },
        seed: { type: 'string' },
        keep: { type: 'string' },
      },
      ...{ pace: { type: 'string', default: '3' }, ...FLAGS },
    },
  });
  if (values.help) return 'help';
  const { ledger, json, verbose, deploys, mixed, 'wipe-redis': wipeRedis } = values;
  const leases = LEASE_SYSTEMS.find((name) => name === values.leases);
  if (values.leases !== undefined && !leases)
    throw new Error(`Expected --leases ${LEASE_SYSTEMS.join(' or ')}, got ${values.leases}.`);
  if (ledger !== 'redis' && ledger !== 'postgres')
    throw new Error(`Expected --ledger redis or postgres, got ${ledger}.`);
  if (wipeRedis && ledger === 'redis')
    throw new Error('Expected --wipe-redis with --ledger postgres: a ledger that is in Redis would be wiped too.');
  if (mixed && ledger === 'postgres')
    throw new Error('Expected --mixed with --ledger redis: the tables no longer admit the build before.');
  if (mixed && deploys) throw new Error('Expected --mixed or --deploys, got both.');
  const seconds = whole('--seconds', values.seconds, MAX_S);
  const seed = values.seed === undefined ? randomInt(SEEDS) : whole('--seed', values.seed, SEEDS - 1);
  const pace = whole('--pace', values.pace, MAX_PACE);
  if (pace === 0) throw new Error('Expected --pace to be 1 or more, got 0.');
  const all = values.short ? SHORT : FULL;
  const form = values.topologies === undefined ? all : { ...all, parts: chosen(values.topologies) };
  const kept = values.keep === undefined ? {} : { keepIn: values.keep };
  return {
    ledger,
    wipeRedis,
    deploys,
    mixed,
    seconds,
    seed,
    pace,
    json,
    verbose,
    form,
    ...kept,
    ...(leases ? { leases } : {}),
  };
}

function chosen(text: string): Part[] {
  const names = text.split(',');
  const parts = FULL.parts.filter(({ topology }) => names.includes(topology));
  if (parts.length === names.length) return parts;
  throw new Error(`Expected --topologies out of ${FULL.parts.map(({ topology }) => topology).join()}, got ${text}.`);
}

function whole(name: string, text: string, most: number): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && number <= most) return number;
  throw new Error(`Expected ${name} to be a whole number up to ${most}, got ${text}.`);
}

function interrupted(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => controller.abort());
  return controller.signal;
}

async function main({ json, verbose, ...options }: Asked): Promise<void> {
  const wipes = `${options.wipeRedis ? ' --wipe-redis' : ''}${options.deploys ? ' --deploys' : ''}`;
  const leases = options.leases ? ` --leases ${options.leases}` : '';
  console.error(`--seconds ${options.seconds} --ledger ${options.ledger}${leases}${wipes} --seed ${options.seed}`);
  const since = performance.now();
  const onProgress = (line: string) => {
    if (verbose) console.error(`${((performance.now() - since) / 1_000).toFixed(1)} ${line}`);
  };
  const signal = interrupted();
  const verdict = await chaos({ ...options, signal, onProgress });
  if (signal.aborted) throw new Error('It was interrupted, and says nothing.');
  console.log(json ? JSON.stringify(verdict) : JSON.stringify(verdict, null, 2));
  process.exitCode = verdict.ok ? 0 : 1;
}

try {
  const options = asked();
  if (options === 'help') console.log(HELP);
  else await main(options);
} catch (error) {
  console.error((error as Error).message);
  // At once: what is left is not worth waiting for, and what was started ends with this process.
  process.exit(1);
}
