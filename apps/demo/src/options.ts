import { Command, InvalidArgumentError, Option } from 'commander';

export interface DemoOptions {
  /** `null`: until somebody ends it. */
  readonly seconds: number | null;
  readonly chaos: boolean;
  readonly seed: number | null;
  readonly ledger: 'redis' | 'postgres';
  readonly json: boolean;
}

export interface Output {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
}

const A_DAY = 86_400;
const LEDGERS = ['redis', 'postgres'] satisfies DemoOptions['ledger'][];
const LARGEST_SEED = 2 ** 32 - 1;

// Without line breaks of its own: the help is wrapped to the terminal.
const ABOUT =
  'Three scheduler processes and two worker processes on one Redis, and what becomes of each scheduled instant. ' +
  'Everything shown is read from the stores; the pods are not asked. Ends with Ctrl-C, or after --seconds, and then ' +
  'says how many instants there were, whether one was missed, and whether a write was accepted twice.';

const EXAMPLES = `
Examples:
  npm start                               watch it; kill -9 one of the pids yourself
  npm start -- --chaos                    have pods killed and frozen
  npm start -- --seconds 60 --chaos --seed 7 --json
  npm start -- --ledger postgres          runs and effects in PostgreSQL: DATABASE_URL, else one of its own

Exit code: 0 when nothing was missed and no write was accepted twice, otherwise 1.`;

/**
 * Reads the command line.
 * @throws {CommanderError} after printing the help, or one sentence on what is wrong; its `exitCode` is meant
 */
export function parseOptions(args: readonly string[], { out, err }: Output): DemoOptions {
  const program = new Command('npm start --')
    .description(ABOUT)
    .option('--seconds <n>', 'end after n seconds', wholeNumber(1, A_DAY))
    .option('--chaos', 'kill or freeze a pod now and then')
    .option('--seed <n>', 'make the same choices as an earlier --chaos', wholeNumber(0, LARGEST_SEED))
    .addOption(new Option('--ledger <store>', 'where runs and effects are recorded (default: redis)').choices(LEDGERS))
    .option('--json', 'print one line of JSON at the end, and everything else on stderr')
    .addHelpText('after', EXAMPLES)
    .allowExcessArguments(false)
    .configureOutput({ writeOut: out, writeErr: err })
    .exitOverride();
  const given = program.parse(args, { from: 'user' }).opts<Partial<DemoOptions>>();
  return { seconds: null, chaos: false, seed: null, ledger: 'redis', json: false, ...given };
}

function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (value >= least && value <= most) return value;
    throw new InvalidArgumentError(`Give a whole number from ${least} to ${most}.`);
  };
}
