import { parseArgs } from 'node:util';
import { ensureBuilt } from '../scripts/build.mjs';
import { ensureInstalled } from '../scripts/install.mjs';
import { program } from '../scripts/program.mjs';

/**
 * @typedef {{ says: string, default: number, quick?: number, min?: number }} NumberOption whole numbers, from 1 unless
 *   `min` says otherwise; `quick` is the default with --quick
 * @typedef {{ says: string, default: readonly number[], quick?: readonly number[] }} ListOption whole numbers from 1
 * @typedef {{ name: string, numbers: Record<string, NumberOption>, lists?: Record<string, ListOption>,
 *   files?: Record<string, string>, cases?: readonly string[], quick?: string }} Bench
 */

/**
 * The command of a bench: reads its options, installs and builds what is missing, and prints the result as one line of JSON.
 * @param {string} moduleUrl of the module that was typed
 * @param {Bench} bench
 * @param {() => Promise<(options: object, print: (line: string) => void) => Promise<{ ok: boolean }>>} load imports the
 *   bench itself, after the build: it imports what is built
 */
export function benchCommand(moduleUrl, bench, load) {
  return program(moduleUrl, async (args) => {
    const options = readOptions(bench, args);
    if (options.help) return console.log(helpOf(bench));
    await ensureInstalled();
    await ensureBuilt();
    const run = await load();
    const result = await run(options, options.json ? console.error : console.log);
    console.log(JSON.stringify(result));
    return result.ok ? 0 : 1;
  });
}

/**
 * @param {Bench} bench
 * @param {string[]} args
 * @throws {Error} one sentence on what is wrong
 */
export function readOptions({ numbers, lists = {}, files = {}, cases, quick }, args) {
  const flag = { type: 'boolean', default: false };
  const names = [...Object.keys({ ...numbers, ...lists, ...files }), ...(cases ? ['cases'] : [])];
  const own = Object.fromEntries(names.map((name) => [name, { type: 'string' }]));
  const flags = { json: flag, help: { ...flag, short: 'h' }, ...(quick && { quick: flag }) };
  const { values } = parseArgs({ args, options: { ...flags, ...own } });
  const read = Object.entries(numbers).map(([name, { min = 1, ...defaults }]) => {
    const unset = (values.quick && defaults.quick) || defaults.default;
    return [name, values[name] === undefined ? unset : whole(name, values[name], min)];
  });
  const listed = Object.entries(lists).map(([name, defaults]) => {
    const unset = (values.quick && defaults.quick) || defaults.default;
    return [name, values[name]?.split(',').map((text) => whole(name, text, 1)) ?? unset];
  });
  const numbersRead = Object.fromEntries([...read, ...listed]);
  return { ...values, ...numbersRead, ...(cases && { cases: someOf(cases, values.cases) }) };
}

function whole(name, text, min) {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= min) return value;
  throw new Error(`Expected --${name} as a whole number from ${min}, got ${JSON.stringify(text)}.`);
}

function someOf(cases, text) {
  const asked = text?.split(',') ?? cases;
  const unknown = asked.find((name) => !cases.includes(name));
  if (unknown === undefined) return asked;
  throw new Error(`Expected a case out of ${cases.join(', ')}, got ${JSON.stringify(unknown)}.`);
}

/** @param {Bench} bench */
export function helpOf({ name, numbers, lists = {}, files = {}, cases, quick }) {
  const options = [
    ['--json', 'only the closing line on stdout; the table goes to stderr'],
    ...Object.entries(numbers).map(([option, { says, default: n }]) => [`--${option} <n>`, `${says}, default ${n}`]),
    ...Object.entries(lists).map(([option, { says, default: n }]) => [
      `--${option} <n,…>`,
      `${says}, default ${n.join()}`,
    ]),
    ...Object.entries(files).map(([option, says]) => [`--${option} <file>`, says]),
    ...(cases ? [['--cases <names>', `some of ${cases.join(',')}`]] : []),
    ...(quick ? [['--quick', quick]] : []),
    ['-h, --help', 'this'],
  ];
  const lines = options.map(([option, says]) => `  ${option.padEnd(16)} ${says}`);
  const footer = 'Exit code 1 when a claim does not hold. bench/README.md says how to read it.';
  return [`npm run ${name} -- [options]`, '', ...lines, '', footer].join('\n');
}
