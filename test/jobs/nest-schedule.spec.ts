import 'reflect-metadata';
import { readFileSync } from 'node:fs';
import { Injectable, Module, type INestApplicationContext, type Type } from '@nestjs/common';
import { LazyModuleLoader } from '@nestjs/core';
import * as theirs from '@nestjs/schedule';
import { Cron, ScheduleModule, SchedulerRegistry, type ScheduleModuleOptions } from '@nestjs/schedule';
import { Test } from '@nestjs/testing';
import { JobsModule, SingletonCron, type RunContext } from '@fencepost/jobs';
import { CATALOG } from '@fencepost/jobs/internal';
import { CronExpression, ListedCronError } from '@fencepost/jobs/schedule';
import type { Catalog } from '@fencepost/ledger/catalog';
import { afterEach, describe, expect, it } from 'vitest';
import { projectFiles } from '../repository/project-files.js';
import { testRedis } from '../support/redis.js';
import { redisSpaces } from './redis-space.js';

const spaces = redisSpaces();
const apps: INestApplicationContext[] = [];
afterEach(() => Promise.all(apps.splice(0).map((app) => app.close())));

@Injectable()
class Both {
  readonly ours: number[] = [];
  readonly theirs: number[] = [];

  @Cron(CronExpression.EVERY_SECOND)
  everywhere(): void {
    this.theirs.push(Math.round(Date.now() / 1_000));
  }

  @SingletonCron(CronExpression.EVERY_SECOND, { name: 'once', overlap: 'allow' })
  once({ scheduledAt }: RunContext): void {
    this.ours.push(scheduledAt.getTime());
  }
}

@Injectable()
class Nightly {
  @SingletonCron('0 3 * * *', { name: 'nightly', timeZone: 'Europe/Berlin' })
  nightly(): void {}

  @SingletonCron({ name: 'poll', every: '30s', spread: '20s' })
  poll(): void {}
}

interface AppOptions {
  readonly space?: { readonly prefix: string; readonly tenant: string };
  readonly schedule?: ScheduleModuleOptions;
}

async function start(provider: Type, { space = spaces.fresh(), schedule }: AppOptions = {}) {
  const jobs = JobsModule.forRoot({ roles: ['scheduler', 'worker'], redis: testRedis(), ...space, log: false });
  const imports = [jobs, ScheduleModule.forRoot(schedule)];
  const app = await Test.createTestingModule({ imports, providers: [provider] }).compile();
  apps.push(app);
  await app.init();
  return { app, registry: app.get(SchedulerRegistry, { strict: false }) };
}

describe('@Cron and @SingletonCron in one application', () => {
  it('both fire: theirs in each of two replicas, ours in one', async () => {
    const space = spaces.fresh();
    const replicas = [await start(Both, { space }), await start(Both, { space })];
    const [one, other] = replicas.map(({ app }) => app.get(Both));
    const ours = () => [...(one?.ours ?? []), ...(other?.ours ?? [])];
    const shared = () => (one?.theirs ?? []).filter((second) => other?.theirs.includes(second));
    await expect.poll(() => ours().length >= 3 && shared().length >= 2, { timeout: 20_000 }).toBe(true);
    expect(new Set(ours()).size).toBe(ours().length);
  });
});

describe('a cron of Fencepost in SchedulerRegistry', () => {
  it('is found when a module that is loaded after the boot has brought it', async () => {
    const { app, registry } = await start(Nightly);
    @Injectable()
    class Late {
      @SingletonCron('0 4 * * *', { name: 'late' })
      late(): void {}
    }
    @Module({ providers: [Late] })
    class LateModule {}
    const before = registry.getCronJob('nightly');
    await app.get(LazyModuleLoader, { strict: false }).load(() => LateModule);
    await expect.poll(() => registry.doesExist('cron', 'late')).toBe(true);
    expect(registry.getCronJob('nightly')).toBe(before);
    const catalog = app.get<Catalog>(CATALOG, { strict: false });
    const names = async () => (await catalog.read()).entries.map(({ definition }) => definition.name);
    await expect.poll(names).toEqual(['late', 'nightly', 'poll']);
  });

  it('is found, and tells its declaration and its next instants', async () => {
    const { registry } = await start(Nightly);
    expect([...registry.getCronJobs().keys()]).toEqual(['nightly', 'poll']);
    expect([registry.doesExist('cron', 'nightly'), registry.doesExist('cron', 'other')]).toEqual([true, false]);
    const nightly = registry.getCronJob('nightly');
    expect(nightly.name).toBe('nightly');
    expect(nightly.cronTime).toMatchObject({ source: '0 3 * * *', timeZone: 'Europe/Berlin' });
    const shown = new Intl.DateTimeFormat('en', { timeZone: 'Europe/Berlin', hour: 'numeric', hourCycle: 'h23' });
    expect(shown.format(nightly.nextDate().toJSDate())).toBe('03');
    const days = nightly.nextDates(3).map((next) => next.toMillis());
    expect(days.every((day, n) => day > (days[n - 1] ?? Date.now()))).toBe(true);
    expect(nightly.nextDate().toISO()).toBe(new Date(days[0] ?? 0).toISOString());
  });

  it('is due when its spread has passed, and never in the past', async () => {
    const { registry } = await start(Nightly);
    const before = Date.now();
    const [first = 0, second = 0] = registry
      .getCronJob('poll')
      .nextDates(2)
      .map((next) => next.toMillis());
    expect(second - first).toBe(30_000);
    expect(first).toBeGreaterThan(before);
    expect(first).toBeLessThanOrEqual(Date.now() + 30_000);
    expect(first % 30_000).toBeGreaterThan(0);
  });

  it('knows when this process last began a run', async () => {
    const { app, registry } = await start(Both);
    const cron = registry.getCronJob('once');
    await expect.poll(() => app.get(Both).ours.length, { timeout: 20_000 }).toBeGreaterThan(0);
    expect(cron.lastDate()?.getTime()).toBeGreaterThanOrEqual(app.get(Both).ours[0] ?? Infinity);
    expect(cron.lastExecution).toEqual(cron.lastDate());
  });

  it('has not run before it has', async () => {
    const { registry } = await start(Nightly);
    expect(registry.getCronJob('nightly').lastDate()).toBeNull();
  });

  it('makes place for one of theirs with the same name, and the application stops without an error', async () => {
    @Injectable()
    class Same extends Nightly {
      @Cron('0 4 * * *', { name: 'nightly' })
      other(): void {}
    }
    const { app, registry } = await start(Same);
    expect(registry.getCronJob('nightly').isActive).toBe(true);
    expect(registry.getCronJob('nightly').cronTime.source).toBe('0 4 * * *');
    apps.length = 0;
    await app.close();
    expect([...registry.getCronJobs().keys()]).toEqual([]);
  });
});

const PAGE = readFileSync(new URL('../../docs/migrating/from-nestjs-schedule.md', import.meta.url), 'utf8');

/** What the table of the page says, by the code in its first column. */
function rowsBelow(heading: string): Map<string, string> {
  const [, section = ''] = PAGE.split(heading);
  const rows = [...section.matchAll(/^\| (`.*?) +\| (.*?) +\|$/gm)];
  return new Map(
    rows.flatMap(([, of = '', answer = '']) => of.split(/, (?=`)/).map((one) => [one.replaceAll('`', ''), answer])),
  );
}

describe('the table of what is not supported', () => {
  const rows = rowsBelow('### Not supported');
  const answered = [...rowsBelow('## Both in one application').keys()].map((of) => of.replace(/[(.].*/, ''));
  const THROWN = ['stop()', 'start()', 'setTime()', 'fireOnTick()', 'addCallback()', 'isActive', 'isCallbackRunning'];

  it.each([...THROWN, 'registry.deleteCronJob(name)'])('is right about %s', async (asked) => {
    const { registry } = await start(Nightly);
    const cron = registry.getCronJob('nightly');
    const ask = (): unknown => {
      if (asked.startsWith('registry.')) return registry.deleteCronJob('nightly');
      const member: unknown = Reflect.get(cron, asked.replace('()', ''), cron);
      return typeof member === 'function' ? member.call(cron) : member;
    };
    const instead = /\w+\.\w+\(\)/.exec(rows.get(asked) ?? '')?.[0];
    expect(instead).toBeDefined();
    expect(ask).toThrow(instead);
    expect(ask).toThrow(ListedCronError);
    expect(ask).toThrow(expect.objectContaining({ code: 'LISTED_CRON', cron: 'nightly' }));
    expect(registry.doesExist('cron', 'nightly')).toBe(true);
  });

  it('and the one before it leave no method of a CronJob out, and no accessor', async () => {
    @Injectable()
    class Plain {
      @Cron('0 4 * * *', { name: 'plain' })
      plain(): void {}
    }
    const { registry } = await start(Plain);
    const members = Object.getOwnPropertyNames(Object.getPrototypeOf(registry.getCronJob('plain')));
    const own = members.filter((name) => !/^(_|constructor)/.test(name));
    const said = [...THROWN.map((name) => name.replace('()', '')), ...answered];
    expect(own.length).toBeGreaterThan(8);
    expect(own.filter((name) => !said.includes(name))).toEqual([]);
  });

  it('is right about what is theirs alone', async () => {
    expect([...rows.keys()]).toEqual(expect.arrayContaining(['registry.getIntervals()', 'registry.getTimeouts()']));
    expect(rows.has('ScheduleModule.forRoot({ cronJobs: false })')).toBe(true);
    const { app, registry } = await start(Both, { schedule: { cronJobs: false } });
    expect([registry.getIntervals(), registry.getTimeouts()]).toEqual([[], []]);
    await expect.poll(() => app.get(Both).ours.length, { timeout: 20_000 }).toBeGreaterThan(0);
    expect(app.get(Both).theirs).toEqual([]);
  });

  it.each(['utcOffset', 'waitForCompletion', 'threshold', 'unrefTimeout', 'initialDelay'])(
    'is right about %s, which is refused at boot',
    async (option) => {
      expect(rows.get(option)).toContain('refused at boot');
      @Injectable()
      class Old {
        @SingletonCron('0 4 * * *', { name: 'old', [option]: 1 })
        old(): void {}
      }
      await expect(start(Old)).rejects.toThrow(option);
      apps.length = 0;
    },
  );
});

describe('CronExpression of @fencepost/jobs/schedule', () => {
  it('is the one of @nestjs/schedule, which no other source of a library imports', () => {
    expect(CronExpression).toBe(theirs.CronExpression);
    const sources = projectFiles(/^libs\/\w+\/src\/.*(?<!\.(spec|stage))\.ts$/);
    const importing = sources.filter(({ text }) => /from '@nestjs\/schedule'/.test(text)).map(({ path }) => path);
    expect(importing).toEqual(['libs/jobs/src/schedule.ts']);
  });
});
