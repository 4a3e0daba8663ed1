import { CronExpression } from '@nestjs/schedule';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { migrateSource } from './migrate-source.js';

const expressions = new Map(Object.entries(CronExpression));

function migrate(text: string, timeZone = 'UTC') {
  return migrateSource('src/tasks.service.ts', text, { ts, expressions, timeZone, names: new Set() });
}

/** A class with one decorated method, and its decorator and comments afterwards. */
function decorated(decorator: string, over: { timeZone?: string; before?: string } = {}) {
  const text = `import { Cron, CronExpression, Interval, Timeout } from '@nestjs/schedule';
${over.before ?? ''}
class TasksService {
  ${decorator}
  run(): void {}
}
`;
  const found = migrate(text, over.timeZone);
  if (found === null) throw new Error('Expected the file to be translated.');
  const lines = found.text.split('\n');
  const head = lines.slice(
    lines.indexOf('class TasksService {') + 1,
    lines.findIndex((line) => / run\(/.test(line)),
  );
  const problems = ts.transpileModule(found.text, { reportDiagnostics: true }).diagnostics;
  expect(problems).toEqual([]);
  return { head: head.map((line) => line.trim()), ...found };
}

const NAME = "name: 'tasks-run'";

describe('a decorator of @nestjs/schedule', () => {
  it.each([
    ["@Cron('0 3 * * *')", `@SingletonCron('0 3 * * *', { ${NAME} })`],
    ['@Cron(CronExpression.EVERY_HOUR)', `@SingletonCron('0 0-23/1 * * *', { ${NAME} })`],
    ["@Cron('* * * * *', { name: 'mine' })", "@SingletonCron('* * * * *', { name: 'mine' })"],
    ["@Cron('* * * * *', { name: 'not allowed' })", "@SingletonCron('* * * * *', { name: 'not-allowed' })"],
    ["@Cron('0 3 * * *', { timeZone: zone })", `@SingletonCron('0 3 * * *', { ${NAME}, timeZone: zone })`],
    ["@Cron('0 3 * * *', { utcOffset: 120 })", `@SingletonCron('0 3 * * *', { ${NAME}, timeZone: 'Etc/GMT-2' })`],
    ["@Cron('0 3 * * *', { utcOffset: -300 })", `@SingletonCron('0 3 * * *', { ${NAME}, timeZone: 'Etc/GMT+5' })`],
    ["@Cron('0 3 * * *', { disabled: !on })", `@SingletonCron('0 3 * * *', { ${NAME}, disabled: !on })`],
    ["@Cron('0 3 * * *', { waitForCompletion: true })", `@SingletonCron('0 3 * * *', { ${NAME} })`],
    ["@Cron('0 3 * * *', { waitForCompletion: false })", `@SingletonCron('0 3 * * *', { ${NAME}, overlap: 'allow' })`],
    [
      "@Cron('0 3 * * *', { threshold: 2_000, unrefTimeout: true })",
      `@SingletonCron('0 3 * * *', { ${NAME}, grace: '2000ms', misfire: 'skip' })`,
    ],
    ['@Cron(process.env.WHEN!)', `@SingletonCron(process.env.WHEN!, { ${NAME} })`],
    ['@Interval(30_000)', `@SingletonCron({ ${NAME}, every: '30s' })`],
    ['@Interval(5 * 60 * 1000)', `@SingletonCron({ ${NAME}, every: '5m' })`],
    ["@Interval('poll', 90_000)", "@SingletonCron({ name: 'poll', every: '90s' })"],
  ])('%s becomes %s', (before, after) => {
    const { head, decide, crons, text } = decorated(before);
    expect([head, decide]).toEqual([[after], []]);
    expect(crons).toMatchObject([{ where: 'TasksService.run', decorator: after }]);
    expect(text).toContain('run(_run: RunContext): void');
    expect(text.split('\n')[0]).toBe("import { SingletonCron, type RunContext } from '@fencepost/jobs';");
    expect(text).not.toContain('@nestjs/schedule');
  });

  it.each([
    ['@Cron(new Date(0))', 'runs once, at a date'],
    ['@Cron(AT)', 'runs once, at a date'],
    ["@Cron('0 3 * * *', { utcOffset: 330 })", 'has a utcOffset that no time zone stands for'],
    ["@Cron('0 3 * * *', options)", 'its options are not an object literal'],
    ["@Cron('0 3 * * *', { ...options })", 'its options are not an object literal'],
    ["@Cron('0 3 * * * * * *')", 'has an expression that Fencepost does not read'],
    ['@Interval(500)', 'runs every 500 ms in each pod'],
    ['@Interval(period)', 'runs every period ms in each pod'],
    ['@Timeout(1000)', 'runs once in each pod'],
  ])('%s stays, and a comment says what to decide', (before, sentence) => {
    const { head, decide, text } = decorated(before, { before: 'const AT = new Date(0);' });
    expect(head).toEqual([expect.stringContaining(`// fencepost: ${sentence}`), before]);
    expect(decide).toEqual([{ line: 4, text: expect.stringContaining(sentence) }]);
    // A second time adds nothing.
    expect(migrate(text)?.text).toBe(text);
  });

  it.each([
    ["@Cron('0 3 * * *', { waitForCompletion: wait })", 'had waitForCompletion: wait'],
    ["@Cron('0 3 * * *', { initialDelay: 5 })", 'had initialDelay: 5'],
    ["@Cron('0 3 * * *', { name: `x-${id}` })", 'had a name that is made at run time'],
  ])('%s is translated, below a comment', (before, sentence) => {
    expect(decorated(before).head).toEqual([
      expect.stringContaining(`// fencepost: ${sentence}`),
      `@SingletonCron('0 3 * * *', { ${NAME} })`,
    ]);
  });

  it.each([
    ['@Cron(`${new Date().getMinutes()} * * * *`)', ''],
    ["@Cron(Math.floor(Math.random() * 60) + ' 3 * * *')", ''],
    ['@Cron(`${minuteOf("tasks")} 3 * * *`)', ''],
    ['@Cron(HOURLY)', 'const MINUTE = new Date().getMinutes();\nconst HOURLY = `${MINUTE} * * * *`;'],
    ['@Cron(Other.HOURLY)', 'class Other { static readonly HOURLY = `${new Date().getMinutes()} * * * *`; }'],
    ['@Cron(randomCron())', ''],
  ])('%s is translated, below a comment that recommends H or spread', (before, declared) => {
    const { head, decide } = decorated(before, { before: declared });
    expect(head).toEqual([
      expect.stringMatching(/^\/\/ fencepost: has a schedule that is computed/),
      expect.any(String),
    ]);
    expect(head[1]).toBe(`@SingletonCron(${before.slice('@Cron('.length, -1)}, { ${NAME} })`);
    expect(decide).toMatchObject([{ text: expect.stringContaining('a fixed schedule with H, such as "H * * * *"') }]);
  });

  it.each(["@Cron(process.env['WHEN'] ?? '0 3 * * *')", "@Cron(scheduleOf('tasks'))", '@Cron(`0 ${HOUR} * * *`)'])(
    '%s is the same in each pod, and has no comment',
    (before) => {
      expect(decorated(before, { before: 'const HOUR = 1 + 2;' }).decide).toEqual([]);
    },
  );

  it('without a zone gets the one that is asked for, an interval none', () => {
    const timeZone = 'Europe/Berlin';
    expect(decorated("@Cron('0 3 * * *')", { timeZone }).head[0]).toContain("timeZone: 'Europe/Berlin'");
    expect(decorated("@Cron('0 3 * * *', { utcOffset: 0 })", { timeZone }).head[0]).toContain("timeZone: 'UTC'");
    expect(decorated('@Interval(1000)', { timeZone }).head[0]).not.toContain('timeZone');
  });
});

describe('a file', () => {
  it('without @nestjs/schedule is left alone', () => {
    expect(migrate("import { Cron } from 'elsewhere';\nclass A { @Cron('* * * * *') b() {} }\n")).toBeNull();
  });

  it('keeps what it still takes from @nestjs/schedule, its quotes, its aliases and its parameters', () => {
    const found = migrate(`import { Cron as Every, Timeout, SchedulerRegistry } from "@nestjs/schedule"
import { Jobs } from "@fencepost/jobs"

export class A {
  constructor(private readonly registry: SchedulerRegistry, private readonly jobs: Jobs) {}

  @Every("* * * * *")
  tick(done: () => void) {}

  @Timeout(5)
  once() {}
}
`);
    expect(found?.text).toBe(`// fencepost: ${found?.decide[0]?.text}
import { Timeout, SchedulerRegistry } from "@nestjs/schedule"
import { Jobs, SingletonCron } from "@fencepost/jobs"

export class A {
  constructor(private readonly registry: SchedulerRegistry, private readonly jobs: Jobs) {}

  @SingletonCron("* * * * *", { name: "a-tick" })
  tick(done: () => void) {}

  // fencepost: ${found?.decide[1]?.text}
  @Timeout(5)
  once() {}
}
`);
  });

  it('keeps a constant that its project could not say the value of', () => {
    const text =
      "import { Cron, CronExpression } from '@nestjs/schedule';\nclass A {\n  @Cron(CronExpression.SOON) b() {}\n}\n";
    expect(migrate(text)?.text).toContain("import { CronExpression } from '@nestjs/schedule';");
    expect(migrate(text)?.text).toContain("@SingletonCron(CronExpression.SOON, { name: 'a-b' })");
  });

  it('gives each cron a name of its own', () => {
    const tick = "  @Cron('* * * * *', { name: 'tick' })\n";
    const found = migrate(`import { Cron } from '@nestjs/schedule';\nclass A {\n${tick}  a() {}\n${tick}  b() {}\n}\n`);
    expect(found?.crons.map(({ name }) => name)).toEqual(['tick', 'a-b']);
  });

  it('gives a method with several decorators one parameter, and each cron a name of its own', () => {
    const found = migrate(
      "import { Cron } from '@nestjs/schedule';\nclass A {\n  @Cron('45 * * * * *') @Cron('15 * * * * *') twice() {}\n}\n",
    );
    expect(found?.text).toContain(
      "  @SingletonCron('45 * * * * *', { name: 'a-twice' }) @SingletonCron('15 * * * * *', { name: 'a-twice-2' }) " +
        'twice(_run: RunContext) {}',
    );
    expect(ts.transpileModule(found?.text ?? '', { reportDiagnostics: true }).diagnostics).toEqual([]);
  });

  it('that imports everything under one name is asked to name what it imports', () => {
    const found = migrate("import * as schedule from '@nestjs/schedule';\nclass A {}\n");
    expect(found?.decide).toMatchObject([{ text: expect.stringContaining('one by one') }]);
  });
});
