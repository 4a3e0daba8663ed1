#!/usr/bin/env node
import { parseArgs } from 'node:util';
import { startPostgres } from '../../scripts/postgres.mjs';
import { startRedis } from '../../scripts/redis.mjs';
import { MutationLab } from './mutation-lab.mjs';
import { MUTANTS as ALL, oneOfEach } from './mutants.mjs';
import { tableOf } from './table.mjs';

const HELP = `npm run mutants -- [options]

Takes the defences out one at a time, and says whether the suite noticed.

  --only <word>   only mutants whose name contains this
  --short         one of each promise, and one of a security boundary
  --table         tries none, and prints them as a table of Markdown
  --json          closes with one line: {"ok":true,"mutants":2,"killed":2,"survived":[]}
  -h, --help      this

Exit code 1 when a mutant survives or could not be tried.`;

/** @returns {{ only: string, short: boolean, json: boolean, table: boolean, help: boolean }} */
function readOptions() {
  // `npm run mutants` comes through a runner, whose own name and this file's stand before the arguments.
  const args = process.argv.slice(process.argv.findIndex((word) => word.endsWith('run-mutants.mjs')) + 1);
  const flag = { type: 'boolean', default: false };
  const options = { short: flag, json: flag, table: flag, help: { ...flag, short: 'h' } };
  try {
    return parseArgs({ args, options: { ...options, only: { type: 'string', default: '' } } }).values;
  } catch (error) {
    return refuse(`${error.message.replace(/\.?$/, '.')} "npm run mutants -- --help" lists the options.`);
  }
}

/** @returns {never} */
function refuse(sentence) {
  console.error(sentence);
  process.exit(1);
}

const values = readOptions();
if (values.help || values.table) {
  await new Promise((done) => process.stdout.write(values.help ? `${HELP}\n` : tableOf(ALL), done));
  process.exit();
}
const MUTANTS = (values.short ? oneOfEach(ALL) : ALL).filter(({ name }) => name.includes(values.only));
if (MUTANTS.length === 0) refuse(`Expected --only to be part of a mutant's name, got "${values.only}".`);

const redis = await startRedis({ log: (line) => console.error(line) });
process.env['REDIS_URL'] = redis.url;
// One for all of them: most of their time would go into starting it.
const postgres = await startPostgres();
process.env['DATABASE_URL'] = postgres.url;
const lab = new MutationLab();
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => void lab.close().finally(() => process.exit(1)));
}

const survived = [];
const started = performance.now();
await Promise.all(
  MUTANTS.map(async (mutant) => {
    try {
      const { killed, by } = await lab.tryOut(mutant);
      if (!killed) survived.push(mutant.name);
      console.error(
        killed
          ? `killed    ${mutant.name}\n          by "${by}"`
          : `SURVIVED  ${mutant.name}\n          ${mutant.defence}`,
      );
    } catch (error) {
      survived.push(mutant.name);
      console.error(`NOT TRIED ${error.message}`);
    }
  }),
);
await lab.close();
await redis.stop();
await postgres.stop();

const killed = MUTANTS.length - survived.length;
console.error(
  `${killed} of ${MUTANTS.length} mutants were killed, in ${Math.round((performance.now() - started) / 1_000)} s.`,
);
if (values.json) {
  console.log(JSON.stringify({ ok: survived.length === 0, mutants: MUTANTS.length, killed, survived }));
}
process.exitCode = survived.length === 0 ? 0 : 1;
