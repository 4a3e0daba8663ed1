import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as fc from 'fast-check';
import { CronExpression } from '@nestjs/schedule';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { parseSchedule } from '@fencepost/schedule';
import { anyExpression } from '../schedule/random-expression.js';

const SCHEDULE = fileURLToPath(new URL('../../libs/schedule/src/', import.meta.url));
const OPTIONS: ts.CompilerOptions = {
  strict: true,
  noEmit: true,
  target: ts.ScriptTarget.ES2023,
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  // The least that knows what Lowercase is: all of it would take longer than the test.
  lib: ['lib.es5.d.ts'],
  types: [],
};

const PROLOGUE = [
  "import type { CronLiteral, ZoneLiteral } from './cron-literal.js';",
  'declare function cron<const T extends string>(text: CronLiteral<T>): void;',
  'declare function zone<const T extends string>(name: ZoneLiteral<T>): void;',
  'declare const atRunTime: string;',
];

/** What the compiler says of each call, `null` where it is content. */
function judged(calls: readonly string[]): (string | null)[] {
  const file = `${SCHEDULE}judged.ts`;
  const text = [...PROLOGUE, ...calls].join('\n');
  const host = ts.createCompilerHost(OPTIONS);
  const real = { ...host };
  host.fileExists = (name) => name === file || real.fileExists(name);
  host.getSourceFile = (name, ...rest) =>
    name === file ? ts.createSourceFile(name, text, ts.ScriptTarget.ES2023) : real.getSourceFile(name, ...rest);
  const program = ts.createProgram([file], OPTIONS, host);
  const source = program.getSourceFile(file);
  const found = new Map<number, string>();
  for (const { start = 0, messageText } of [
    ...program.getSyntacticDiagnostics(source),
    ...program.getSemanticDiagnostics(source),
  ]) {
    const line = source?.getLineAndCharacterOfPosition(start).line ?? 0;
    found.set(line - PROLOGUE.length, ts.flattenDiagnosticMessageText(messageText, '\n'));
  }
  const inPrologue = [...found].filter(([line]) => line < 0);
  if (inPrologue.length > 0) throw new Error(`Expected the prologue to compile, got ${inPrologue.join()}.`);
  return calls.map((_, line) => found.get(line) ?? null);
}

const cron = (text: string) => `cron(${JSON.stringify(text)});`;
const zone = (name: string) => `zone(${JSON.stringify(name)});`;

function accepted(calls: readonly string[]): string[] {
  const said = judged(calls);
  return calls.filter((_, n) => said[n] === null);
}

const RIGHT = [
  ...['* * * * *', '0 3 * * *', '*/5 * * * * *', '59 59 23 31 12 7', '00 00 01 01 00', '  0  3 * * *  ', '0\t3 * * *'],
  ...[
    '@daily',
    '@yearly',
    '@weekends',
    '@manual',
    '@every 30s',
    'H H * * *',
    'H(0-29)/10 * * * *',
    '? ? ? ? ?',
    '0/15 * * * *',
    '*/60 * * * *',
  ],
  ...['0 9-17/2 * * MON-FRI', '0 0 1,15,L * *', '0 0 * JAN,jul-Sep *', '0 0 * * 5L', '0 0 * * FRIL', '0 0 * * mon#2'],
  ...['0 0 * * H#1', '1,2,3,4,5-10,*/20 * * * *', '0 0 L * *', '0 0 * * 0-7/7'],
];

const SIXTY = 'the minute field takes values from 0 to 59, not';
const HOURS = 'the hour field takes values from 0 to 23, not';
const WRONG: readonly (readonly [string, string])[] = [
  ['60 * * * *', `${SIXTY} \\"60\\"`],
  ['*/61 * * * *', `${SIXTY} \\"*/61\\"`],
  ['*/0 * * * *', `${SIXTY} \\"*/0\\"`],
  ['1-60 * * * *', `${SIXTY} \\"1-60\\"`],
  ['0,1,60 * * * *', `${SIXTY} \\"0,1,60\\"`],
  ['5- * * * *', `${SIXTY} \\"5-\\"`],
  ['1-5-9 * * * *', `${SIXTY} \\"1-5-9\\"`],
  ['1, * * * *', `${SIXTY} \\"1,\\"`],
  ['-1 * * * *', `${SIXTY} \\"-1\\"`],
  ['005 * * * *', `${SIXTY} \\"005\\"`],
  ['L * * * *', `${SIXTY} \\"L\\"`],
  ['H(0-60) * * * *', `${SIXTY} \\"H(0-60)\\"`],
  ['0 24 * * *', `${HOURS} \\"24\\"`],
  ['0 9-24 * * *', `${HOURS} \\"9-24\\"`],
  ['60 0 0 * * *', 'the second field takes values from 0 to 59, not \\"60\\"'],
  ['0 0 32 * *', 'the day-of-month field takes values from 1 to 31, not \\"32\\"'],
  ['0 0 0 * *', 'the day-of-month field takes values from 1 to 31, not \\"0\\"'],
  ['0 0 L/2 * *', 'the day-of-month field takes values from 1 to 31, not \\"L/2\\"'],
  ['0 0 * 13 *', 'the month field takes values from 1 to 12 or JAN to DEC, not \\"13\\"'],
  ['0 0 * MON *', 'the month field takes values from 1 to 12 or JAN to DEC, not \\"MON\\"'],
  ['0 0 * * 8', 'the day-of-week field takes values from 0 to 7 or SUN to SAT, not \\"8\\"'],
  ['0 0 * * FUN', 'the day-of-week field takes values from 0 to 7 or SUN to SAT, not \\"FUN\\"'],
  ['0 0 * * MON#6', 'the day-of-week field takes values from 0 to 7 or SUN to SAT, not \\"MON#6\\"'],
  ['* * * *', 'expected a cron expression of 5 or 6 fields, or one like \\"@daily\\"'],
  ['* * * * * * *', 'expected a cron expression of 5 or 6 fields, or one like \\"@daily\\"'],
  ['', 'expected a cron expression of 5 or 6 fields, or one like \\"@daily\\"'],
  ['@every 500ms', 'expected a cron expression of 5 or 6 fields, or one like \\"@daily\\"'],
  ['@every 30', 'expected a cron expression of 5 or 6 fields, or one like \\"@daily\\"'],
  ['@dayly', 'expected a cron expression of 5 or 6 fields, or one like \\"@daily\\"'],
];

describe('an expression that stands in the source', () => {
  it('is accepted by the compiler when it is right', () => {
    const calls = RIGHT.map(cron);
    expect(accepted(calls)).toEqual(calls);
    for (const expression of RIGHT) parseSchedule({ expression, timeZone: 'UTC', seed: 's' }, 0);
  });

  it('is an error that says which field takes what when it is wrong, and is refused at boot as well', () => {
    const said = judged(WRONG.map(([text]) => cron(text)));
    expect(said).toEqual(WRONG.map(([, sentence]) => expect.stringContaining(`parameter of type '"${sentence}"'.`)));
    for (const [expression] of WRONG) {
      expect(() => parseSchedule({ expression, timeZone: 'UTC', seed: 's' }, 0), expression).toThrow('Expected');
    }
  });

  it('is never refused by the compiler when it is accepted at boot', () => {
    const random = fc.sample(anyExpression, { seed: 7, numRuns: 300 }).map(({ text }) => text);
    const calls = [...Object.values(CronExpression), ...random].map(cron);
    expect(accepted(calls)).toEqual(calls);
  });
});

describe('a time zone that stands in the source', () => {
  it('is accepted by the compiler when the tz database has it, an old name and in any case too', () => {
    const old = ['UTC', 'utc', 'GMT', 'US/Eastern', 'Asia/Calcutta', 'europe/berlin', 'Etc/GMT+5'];
    const calls = [...old, ...Intl.supportedValuesOf('timeZone')].map(zone);
    expect(accepted(calls)).toEqual(calls);
  });

  it('is an error when there is none of that name', () => {
    const said = judged(['Europe/Atlantis', '+02:00', '', 'Berlin', 'Africa/Berlin'].map(zone));
    expect(said).toEqual(said.map(() => expect.stringContaining('expected an IANA time zone such as')));
  });

  it('stands once in the list', () => {
    const source = readFileSync(`${SCHEDULE}zone-names.ts`, 'utf8');
    const regions = source
      .split(/^type /m)
      .map((region) => [...region.matchAll(/'([^']+)'/g)].map((match) => match[1]));
    const names = regions.flatMap((lines, region) =>
      lines
        .join(' ')
        .split(' ')
        .map((name) => `${region}/${name}`),
    );
    expect(names.length).toBeGreaterThan(500);
    expect(new Set(names).size).toBe(names.length);
  });
});

describe('what is only known at run time', () => {
  it('is accepted by the compiler, wholly or in parts, and checked at boot', () => {
    const calls = [
      'cron(atRunTime);',
      "cron(atRunTime || '* * * * *');",
      'cron(`${atRunTime} 3 * * *`);',
      'zone(atRunTime);',
      'zone(`Europe/${atRunTime}` as const);',
      'cron("61 * * * *" as string);',
    ];
    expect(accepted(calls)).toEqual(calls);
  });

  it('is an error when one of the texts it can be is wrong', () => {
    const calls = ["cron(atRunTime ? '* * * * *' : '61 * * * *');", "cron(atRunTime ? '* * * * *' : '0 3 * * *');"];
    expect(judged(calls)).toEqual([expect.stringContaining('not \\"61\\"'), null]);
  });
});
