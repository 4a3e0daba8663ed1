import { parseArgs } from 'node:util';

export const HELP = `npm run bench:viewers -- [options]

  --json           only the closing line on stdout; the table goes to stderr
  --seconds <n>    how long each of the two windows is, default 60
  --viewers <n>    how many look at the pod, default 50
  --crons <n>      how many crons fire each second, default 10
  --quick          few viewers and short windows: whether everything runs; judges nothing
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
      viewers: { type: 'string' },
      crons: { type: 'string' },
    },
  });
  const { quick } = values;
  return {
    ...values,
    seconds: whole('--seconds', values.seconds ?? (quick ? '4' : '60')),
    viewers: whole('--viewers', values.viewers ?? (quick ? '10' : '50')),
    crons: whole('--crons', values.crons ?? (quick ? '3' : '10')),
  };
}

function whole(name, text) {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 1) return value;
  throw new Error(`Expected ${name} as a whole number from 1, got ${JSON.stringify(text)}.`);
}
