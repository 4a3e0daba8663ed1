import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureBuilt } from './build.mjs';
import { runInFront } from './child.mjs';
import { root } from './exclusive.mjs';
import { ensureInstalled } from './install.mjs';
import { program } from './program.mjs';

const SOURCE_RUNNER = join(root, 'test/support/run-source.mjs');

/**
 * The programs that test the guarantees, cheapest first, and the arguments of their long and short forms.
 * @type {Record<string, { file: string, node?: readonly string[], long: readonly string[], short: readonly string[] }>}
 */
const PROOFS = {
  model: { file: 'test/model/run-model.ts', long: [''], short: ['--quick'] },
  sim: { file: 'test/simulation/run-sim.ts', long: ['--seeds 1000'], short: ['--seeds 50'] },
  fleet: {
    file: 'test/fleet/run-fleet.ts',
    // Else V8 keeps gigabytes of garbage on a large machine.
    node: ['--max-old-space-size=1600'],
    long: ['--schedules 1000000 --pods 100'],
    short: ['--schedules 10000 --pods 10 --hours 2'],
  },
  chaos: {
    file: 'test/chaos/run-chaos.ts',
    long: [
      ...['--seconds 60 --ledger redis', '--seconds 60 --ledger postgres'],
      ...['--seconds 60 --leases quorum', '--seconds 60 --leases etcd', '--seconds 120 --deploys'],
    ],
    short: ['--short --seconds 24 --ledger redis --deploys', '--short --seconds 24 --ledger postgres'],
  },
  torture: { file: 'test/torture/run-peers.ts', long: ['--seconds 60'], short: ['--seconds 20'] },
  // Their short form is part of `npm test`.
  specs: { file: 'test/programs/run-long-specs.mjs', long: [''], short: [] },
  mutants: { file: 'test/mutants/run-mutants.mjs', long: [''], short: ['--short'] },
};

const HELP = `npm run proof -- [options]

Runs ${Object.keys(PROOFS).join(', ')} one after the other in their long forms; a failure does not
stop the rest. "npm run <name> -- --help" explains one of them (torture is torture:peers,
fleet is sim:fleet).

  --short          the short forms
  --only <names>   some of ${Object.keys(PROOFS).join(',')}
  --json           only the closing line on stdout; everything else goes to stderr
  -h, --help       this

The last line is {"ok","form","seconds","proofs":[{"name","args","ok","code","seconds","result"}]}: "result" is the closing
line of that proof, or null when it had none. Exit code 1 when one fails.`;

/** With a name first, that proof with the arguments after it; without one, all of them. */
await program(import.meta.url, async ([name = '', ...args]) => {
  if (name in PROOFS) {
    const { code, leftovers } = await run(PROOFS[name], args);
    return leftovers ? code || 1 : code;
  }
  const { help, json, short, only } = readOptions([name, ...args].filter(Boolean));
  if (help) return console.log(HELP);
  const result = await runAll({ form: short ? 'short' : 'long', only }, json ? console.error : console.log);
  console.log(JSON.stringify(result));
  return result.ok ? 0 : 1;
});

/** @param {string[]} args */
function readOptions(args) {
  const flag = { type: 'boolean', default: false };
  const options = { short: flag, json: flag, help: { ...flag, short: 'h' }, only: { type: 'string' } };
  const { only, ...flags } = parseArgs({ args, options }).values;
  const names = only?.split(',') ?? Object.keys(PROOFS);
  const unknown = names.find((name) => !(name in PROOFS));
  if (unknown === undefined) return { ...flags, only: names };
  throw new Error(`Expected --only out of ${Object.keys(PROOFS).join(', ')}, got ${JSON.stringify(unknown)}.`);
}

async function runAll({ form, only }, print) {
  let interrupted = false;
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => (interrupted = true));
  const proofs = [];
  const since = performance.now();
  for (const name of only) {
    for (const args of PROOFS[name][form]) {
      if (interrupted) continue;
      print(`${name} ${args} ...`);
      proofs.push(await runOne(name, args));
      const { ok, seconds } = proofs.at(-1);
      print(`${ok ? 'ok  ' : 'FAIL'} ${name} ${args} (${seconds} s)`);
    }
  }
  const ok = !interrupted && proofs.every((proof) => proof.ok);
  return { ok, form, seconds: secondsSince(since), proofs };
}

async function runOne(name, args) {
  const since = performance.now();
  const words = args.split(' ').filter(Boolean);
  const { code, leftovers, out } = await run(PROOFS[name], [...words, '--json'], { stdout: 'pipe' });
  const result = closingLine(out);
  return {
    name,
    args,
    ok: code === 0 && !leftovers && result?.ok === true,
    code,
    seconds: secondsSince(since),
    result,
  };
}

/** A proof is a program of the tests, run from its source; what it starts as processes of their own is built before. */
async function run({ file, node = [] }, args, options) {
  await ensureInstalled();
  await ensureBuilt({ pods: true });
  const ended = await runInFront([...node, SOURCE_RUNNER, join(root, file), ...args], process.env, options);
  if (ended.leftovers) console.error('It left a process running, which has been ended; it counts as failed.');
  return ended;
}

function closingLine(out) {
  try {
    return JSON.parse(out.trim().split('\n').at(-1));
  } catch {
    return null;
  }
}

function secondsSince(since) {
  return Math.round((performance.now() - since) / 1_000);
}
