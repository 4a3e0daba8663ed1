import { parseArgs } from 'node:util';

export interface DemoOptions {
  /** `null`: until Ctrl-C. */
  readonly seconds: number | null;
  readonly chaos: boolean;
  readonly seed: number | null;
  readonly ledger: 'redis' | 'postgres';
  readonly json: boolean;
}

export const HELP = `npm start -- [options]

Three scheduler processes and two worker processes on one Redis, and what becomes of each scheduled instant. All figures
are read from the stores, none from a pod. Try it: kill -9 one of the pids.

  --seconds <n>     end after n seconds (default: at Ctrl-C)
  --chaos           kill or freeze a pod now and then
  --seed <n>        make the same choices as an earlier --chaos
  --ledger <store>  redis (default), or postgres: runs and effects in PostgreSQL, that of DATABASE_URL or a private one
  --json            print one line of JSON at the end, and everything else on stderr
  -h, --help        this

Exit code: 0 when nothing was missed and no write was accepted twice, otherwise 1.`;

/** @throws {Error} one sentence on what is wrong */
export function parseOptions(args: readonly string[]): DemoOptions & { readonly help: boolean } {
  const flag = { type: 'boolean', default: false } as const;
  const text = { type: 'string' } as const;
  const options = {
    chaos: flag,
    json: flag,
    help: { ...flag, short: 'h' },
    seconds: text,
    seed: text,
    ledger: text,
  } as const;
  const { seconds, seed, ledger = 'redis', ...flags } = parseArgs({ args: [...args], options }).values;
  if (ledger !== 'redis' && ledger !== 'postgres')
    throw new Error(`Expected --ledger as redis or postgres, got '${ledger}'.`);
  return {
    ...flags,
    ledger,
    seconds: whole('--seconds', seconds, 1, 86_400),
    seed: whole('--seed', seed, 0, 2 ** 32 - 1),
  };
}

function whole(name: string, text: string | undefined, ...[min, max]: [number, number]): number | null {
  if (text === undefined) return null;
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw new Error(`Expected ${name} as a whole number from ${min} to ${max}, got '${text}'.`);
}
