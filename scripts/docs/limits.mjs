import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { format } from 'prettier';
import { root } from '../exclusive.mjs';

const HEAD = `# Limits

\`npm run docs\` generates this page. The ranges are what the options say when they refuse a value, the numbers are constants of the
sources. Defaults and meanings are in the [reference](reference/README.md).
`;

/** No option takes it, but for those that take an object. */
const WRONG = { wrong: true };
const OBJECTS = new Set(['alarms']);

/** Numbers that are no options: what they limit, and the constant that does. */
const CONSTANTS = [
  ['result of an effect, bytes as JSON', 'libs/jobs/src/running/effect-result.ts', 'MAX_RESULT'],
  ['name of an effect, characters', 'libs/jobs/src/running/effect-session.ts', 'MAX_NAME_LENGTH'],
  ['payload of a job, bytes as JSON', 'libs/jobs/src/enqueuing/job-order.ts', 'MAX_PAYLOAD'],
  ['payload given with a trigger, bytes as JSON', 'libs/jobs/src/enqueuing/job-order.ts', 'MAX_CRON_PAYLOAD'],
  ['reason, idempotency key and other texts, characters', 'libs/jobs/src/enqueuing/job-order.ts', 'MAX_TEXT_LENGTH'],
  ["runs that wait in line with `overlap: 'queue-all'`", 'libs/jobs/src/running/limits.ts', 'MAX_WAITING'],
  ['instants that one catch-up merges and counts one by one', 'libs/jobs/src/scheduling/misfire.ts', 'MAX_MERGED'],
  ['calls of one webhook before it is given up', 'libs/jobs/src/notifying/bullmq-alarm-queue.ts', 'MAX_TRIES'],
  ['log lines kept per run on the board', 'libs/jobs/src/queue/bullmq-run-queue.ts', 'MAX_LINES'],
  ['name of a lease, characters', 'libs/lease/src/store/keys.ts', 'MAX_NAME_LENGTH'],
  ['places of a semaphore', 'libs/lease/src/coordination/semaphore.ts', 'MAX_PLACES'],
  ['nodes of a quorum, at least', 'libs/lease/src/quorum/quorum-options.ts', 'MIN_NODES'],
  ['body of an HTTP request', 'libs/console/src/prepare-app.ts', 'MAX_BODY'],
  ['queries of one caller that wait', 'libs/console/src/api/read-gate.ts', 'MAX_WAITING_OF_ONE'],
  ['queries that wait in all', 'libs/console/src/api/read-gate.ts', 'MAX_WAITING'],
  ['listeners of live events, of one caller', 'libs/console/src/api/events.controller.ts', 'MAX_OF_ONE'],
  ['listeners of live events in all', 'libs/console/src/api/events.controller.ts', 'MAX_LISTENERS'],
];

/**
 * @typedef {object} Sources where options are checked
 * @property {(options: any) => unknown} jobsSettings
 * @property {(options: any) => unknown} leaseSettings
 * @property {(name: string, given: unknown, criticality: 'efficiency') => unknown} readEffectOptions
 * @property {(name: string, given: unknown, criticality: 'efficiency') => unknown} readForEachOptions
 * @property {(options: any, now: number) => unknown} checkedOrder
 * @property {{ schema: { shape: Record<string, any> }, known(option: string | undefined): readonly string[] }} DECLARED
 */

/**
 * @param {Sources} sources
 * @returns {Promise<string>} the page
 */
export async function limitsPage({ DECLARED, ...sources }) {
  const jobs = keysOf((options) => sources.jobsSettings({ redis: 'redis://r', ...options }));
  const leases = keysOf((options) => sources.leaseSettings({ redis: 'redis://r', ...options }));
  const effect = ['ifUnknown', 'keyTtl', 'timeout', 'schema'];
  const parts = [
    ['`@SingletonCron` and `@JobHandler`', cronRanges(DECLARED)],
    ['`JobsModule.forRoot`', rangesOf(jobs, (o) => sources.jobsSettings({ redis: 'redis://r', ...o }))],
    ['`run.effect`', rangesOf(effect, (o) => sources.readEffectOptions('x', o, 'efficiency'))],
    [
      '`run.forEach`',
      rangesOf(['ifUnknown', 'batchSize', 'concurrency', 'timeout'], (o) =>
        sources.readForEachOptions('x', o, 'efficiency'),
      ),
    ],
    [
      '`jobs.enqueue`',
      rangesOf(['idempotencyKey', 'priority', 'by', 'delay', 'keyTtl'], (o) =>
        sources.checkedOrder(o.keyTtl ? { idempotencyKey: 'k', keyTtl: '1ms' } : o, 0),
      ),
    ],
    [
      '`LeaseModule.forRoot` and `connectLeases`',
      rangesOf(leases, (o) => sources.leaseSettings({ redis: 'redis://r', ...o })),
    ],
  ];
  const options = parts.map(([title, rows]) => `## ${title}\n\n${table(['option', 'accepts'], rows)}`);
  const numbers = `## Numbers\n\n${table(['limit', 'value'], CONSTANTS.map(constant))}`;
  const more = `\nThe [query limits](../apps/scheduler/README.md#query-limits) of the API are described with the scheduler.\n`;
  return format([HEAD, ...options, numbers, more].join('\n'), { parser: 'markdown', printWidth: 120 });
}

/** An option that does not exist is answered with those that do. */
function keysOf(check) {
  const said = refusalOf(() => check({ qqqqqqqqqqqq: 1 }));
  const [, names = ''] = /known are (.*?)\.?$/.exec(said) ?? [];
  return names.split(', ').filter((name) => name !== 'redis' && name !== 'store');
}

function rangesOf(keys, check) {
  return keys.map((key) => [key, expectedIn(refusalOf(() => check({ [key]: OBJECTS.has(key) ? [] : WRONG })))]);
}

function expectedIn(said) {
  const expected = /\bexpected (.*?)(?:, got |$)/is.exec(said)?.[1] ?? said;
  return expected.replace(/^.*? to be /, '');
}

function refusalOf(call) {
  try {
    call();
  } catch (error) {
    return error.message;
  }
  return 'any value';
}

function cronRanges({ schema, known }) {
  return known(undefined).flatMap((key) => {
    const inner = known(key);
    if (inner.includes('name') && inner.includes('misfire')) return [[key, messageOf(schema.shape[key])]];
    const { shape } = unwrapped(schema.shape[key]);
    return inner.map((part) => [`${key}.${part}`, messageOf(shape[part])]);
  });
}

/** Below what makes an option optional or gives it a default. */
function unwrapped(schema) {
  return schema.shape ? schema : unwrapped(schema.def.innerType);
}

function messageOf(schema) {
  const { success, error } = schema.safeParse(Symbol('wrong'));
  return success ? 'any value' : expectedIn(error.issues[0]?.message ?? '');
}

function constant([what, file, name]) {
  const source = readFileSync(join(root, file), 'utf8');
  const [, value = ''] = new RegExp(`const ${name} = ([^;]+);`).exec(source) ?? [];
  if (value === '') throw new Error(`${file} has no constant ${name}.`);
  return [what, shown(value)];
}

function shown(value) {
  if (value.startsWith("'")) return value.slice(1, -1);
  const factors = value.replaceAll('_', '').split(' * ').map(Number);
  return factors.reduce((product, factor) => product * factor, 1).toLocaleString('en');
}

function table(head, rows) {
  const named = rows.map(([name = '', text = '']) => [
    /^[a-z]\w*(\.\w+)?$/i.test(name) ? `\`${name}\`` : name,
    code(text),
  ]);
  return [cells(head), '| --- | --- |', ...named.map(cells)].join('\n') + '\n';
}

function cells(row) {
  return `| ${row.map((cell) => String(cell).replaceAll('|', '\\|')).join(' | ')} |`;
}

/** Words in quotes are values. */
function code(text) {
  return text.replaceAll(/(?<![\w`])(['"])([^'"\s]+)\1/g, "`'$2'`");
}
