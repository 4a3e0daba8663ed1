import { parseArgs } from 'node:util';
import { checker, type Checker } from './checker.js';
import { CLAIMS, CONFIGURATIONS, QUICK_CONFIGURATIONS, type Configuration } from './bounds.js';
import { DEFENCES, numberOf, type Defence } from './defences.js';
import type { Report } from './report.js';

const HELP = `npm run model -- [--json] [--quick] [--only <defence>]

Goes through every state of a model of lease, claim, begin and effect (SPIN), with pauses, crashes, expired leases and
failovers that lose writes, and looks for one that must not be. Then takes each defence out, one at a time: the model has
to find the way to the damage, and prints it. Some seconds with --quick, about a minute without.

  --json    one line: ok; per configuration its states, transitions, depth, errors and whether it was exhausted; per
            defence the property that breaks without it, and the steps to that
  --quick   small rooms, and every defence
  --only    one defence, such as CLAIM_FENCE: how its absence does damage
Needs SPIN and a C compiler; both are fetched with apt-get where they are missing.`;

interface Proof extends Report {
  readonly name: string;
  readonly seconds: number;
}

interface Damage {
  readonly name: string;
  readonly property: string;
  readonly counterexample: boolean;
  readonly steps: number;
}

const say = (line: string) => void process.stderr.write(`${line}\n`);

function read() {
  const flag = { type: 'boolean', default: false } as const;
  const args = process.argv.slice(3);
  const { values } = parseArgs({ args, options: { json: flag, quick: flag, help: flag, only: { type: 'string' } } });
  if (values.only !== undefined && numberOf(values.only) === 0) {
    const names = DEFENCES.map(({ name }) => name).join(', ');
    throw new Error(`Expected --only to name a defence, got "${values.only}"; there are ${names}.`);
  }
  return values;
}

async function prove(model: Checker, { name, search, bounds }: Configuration): Promise<Proof> {
  const since = performance.now();
  const report = await model.check(search, bounds);
  const seconds = Math.round((performance.now() - since) / 100) / 10;
  const { states, transitions, depth, exhaustive, errors } = report;
  say(`${errors > 0 ? 'BROKEN' : 'holds '} ${name}: ${states} states, ${transitions} transitions, ${seconds} s`);
  if (errors > 0) {
    const { steps, claim } = await model.steps(search, bounds);
    tell(steps, claim === null ? 'a run never ends' : `${claim} is broken: ${CLAIMS[claim]}`);
  }
  return { name, states, transitions, depth, exhaustive, errors, seconds };
}

/** Ctrl-C ends the search, and with it everything that was written for it is removed. */
function interruption(): AbortSignal {
  const controller = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => controller.abort());
  return controller.signal;
}

function tell(steps: readonly string[], end: string): void {
  for (const step of steps) say(`    ${step}`);
  say(`    => ${end}`);
}

async function damage(model: Checker, { name, does, property, bounds }: Defence): Promise<Damage> {
  const out = numberOf(name);
  const { errors } = await model.check('shortest', bounds, out);
  const { steps, claim } = errors > 0 ? await model.steps('shortest', bounds, out) : { steps: [], claim: null };
  const counterexample = claim === property;
  say(`without ${name} (${does}):`);
  if (claim === null) say('    => nothing happens, so the model does not see what it is good for');
  else tell(steps, `${claim} is broken: ${CLAIMS[claim]}${counterexample ? '' : `; expected was ${property}`}`);
  return { name, property, counterexample, steps: steps.length };
}

async function each<T, R>(all: readonly T[], work: (one: T) => Promise<R>): Promise<R[]> {
  const done: R[] = [];
  for (const one of all) done.push(await work(one));
  return done;
}

async function main(): Promise<boolean> {
  const { json, quick, help, only } = read();
  if (help) {
    process.stdout.write(`${HELP}\n`);
    return true;
  }
  const models = only ? [] : quick ? QUICK_CONFIGURATIONS : CONFIGURATIONS;
  const model = await checker(only ? ['shortest'] : ['safe', 'fair', 'shortest'], {
    log: say,
    quick,
    signal: interruption(),
  });
  try {
    const configurations = await each(models, (one) => prove(model, one));
    const defences = await each(
      DEFENCES.filter(({ name }) => only === undefined || name === only),
      (one) => damage(model, one),
    );
    const holds = configurations.every(({ exhaustive, errors }) => exhaustive && errors === 0);
    const ok = holds && defences.every(({ counterexample }) => counterexample);
    const result = { ok, spin: model.version, configurations, defences };
    process.stdout.write(`${json ? JSON.stringify(result) : summary(result)}\n`);
    return ok;
  } finally {
    model.close();
  }
}

function summary(result: {
  readonly ok: boolean;
  readonly configurations: readonly Proof[];
  readonly defences: readonly Damage[];
}): string {
  const { ok, configurations, defences } = result;
  if (configurations.length === 0) return ok ? 'Without it there is damage, as expected.' : 'NOT SEEN: nothing breaks.';
  const states = configurations.reduce((sum, one) => sum + one.states, 0);
  const seen = defences.filter(({ counterexample }) => counterexample).length;
  return (
    `${ok ? 'The claims hold' : 'NOT PROVED'}: ${configurations.length} configurations with ${states} states exhausted; ` +
    `${seen} of ${defences.length} defences were taken out and missed.`
  );
}

try {
  process.exitCode = (await main()) ? 0 : 1;
} catch (error) {
  say(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
