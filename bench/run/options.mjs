import { parseArgs } from 'node:util';

const NAMES = ['redis', 'postgres', 'alone', 'effect', 'items', 'heartbeats'];

export const HELP = `npm run bench:run -- [options]

  --json           only the closing line on stdout; the table goes to stderr
  --seconds <n>    how long the windows of each worker are in all, for redis and postgres, default 10
  --cases <names>  some of ${NAMES.join(',')}
  --quick          short windows of few runs: whether everything runs; judges nothing
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
      seconds: { type: 'string' },
      cases: { type: 'string' },
    },
  });
  return {
    ...values,
    seconds: whole('--seconds', values.seconds ?? (values.quick ? '1' : '10')),
    cases: values.cases === undefined ? NAMES : values.cases.split(',').map(known),
  };
}

function whole(name, text) {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 1) return value;
  throw new Error(`Expected ${name} as a whole number from 1, got ${JSON.stringify(text)}.`);
}

function known(name) {
  if (NAMES.includes(name)) return name;
  throw new Error(`Expected a case out of ${NAMES.join(', ')}, got ${JSON.stringify(name)}.`);
}
