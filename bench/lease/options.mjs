import { parseArgs } from 'node:util';
import { CASES } from './cases.mjs';

export const HELP = `npm run bench:lease -- [options]

  --json           only the closing line on stdout; the table goes to stderr
  --rounds <n>     rounds that count, default 11
  --seed <n>       for the order within the rounds, default 1
  --cases <names>  some of ${CASES.map(({ name }) => name).join(',')}
  --quick          two operations per round and one round: whether everything runs; judges nothing
  --help           this

Exit code 1 when a claim does not hold. bench/README.md says how to read it.`;

/** @throws {Error} one sentence for what was typed wrong */
export function readOptions(args) {
  const { values } = parseArgs({
    args,
    options: {
      json: { type: 'boolean', default: false },
      quick: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
      rounds: { type: 'string' },
      seed: { type: 'string', default: '1' },
      cases: { type: 'string' },
    },
  });
  return {
    ...values,
    rounds: whole('--rounds', values.rounds ?? (values.quick ? '1' : '11'), 1),
    seed: whole('--seed', values.seed, 0),
    cases: values.cases === undefined ? CASES : values.cases.split(',').map(caseOf),
  };
}

function whole(name, text, least) {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= least) return value;
  throw new Error(`Expected ${name} as a whole number from ${least}, got ${JSON.stringify(text)}.`);
}

function caseOf(name) {
  const found = CASES.find((kase) => kase.name === name);
  if (found) return found;
  throw new Error(`Expected a case out of ${CASES.map((kase) => kase.name).join(', ')}, got ${JSON.stringify(name)}.`);
}
