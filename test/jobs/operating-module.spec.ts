import { Injectable } from '@nestjs/common';
import type { INestApplicationContext, Provider } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import {
  JobsModule,
  SingletonCron,
  Telemetry,
  type JobsModuleOptions,
  type Role,
  type RunContext,
} from '@fencepost/jobs';
import { CATALOG, RUN_QUEUE, MEMBERSHIP } from '@fencepost/jobs/internal';
import type { Catalog } from '@fencepost/ledger/catalog';
import { afterEach, describe, expect, it } from 'vitest';
import { OperationsModule, CronCatalog, CronOperator } from '@fencepost/operations';
import { recordedEvents } from '../support/recorded.js';
import { testRedis } from '../support/redis.js';
import { redisSpaces } from './redis-space.js';

const spaces = redisSpaces();
const apps: INestApplicationContext[] = [];
afterEach(async () => {
  await Promise.all(apps.splice(0).map((app) => app.close()));
});

@Injectable()
class Mails {
  readonly sent: RunContext[] = [];

  @SingletonCron('0 0 1 1 *', { name: 'mail', payload: { to: 'all' } })
  mail(run: RunContext): void {
    this.sent.push(run);
  }
}

@Injectable()
class Reports {
  @SingletonCron('0 3 * * *', { name: 'report' })
  report(): void {}
}

type Space = ReturnType<typeof spaces.fresh>;

interface Started extends Partial<JobsModuleOptions> {
  readonly roles: readonly Role[];
  readonly providers?: Provider[];
  readonly onEvents?: (app: INestApplicationContext) => void;
}

async function start(space: Space, { roles, providers = [], onEvents, ...options }: Started) {
  const jobs = JobsModule.forRoot({ roles, redis: testRedis(), ...space, drainDeadline: '2s', ...options });
  const app = await Test.createTestingModule({ imports: [jobs, OperationsModule.on(jobs)], providers }).compile();
  apps.push(app);
  onEvents?.(app);
  return app.init();
}

describe('what people and programs do to crons', () => {
  it.each<[readonly Role[]]>([[['scheduler']], [['worker']], [['scheduler', 'worker']]])(
    'can be done from a process with the roles %j, which enqueues what it triggers',
    async (roles) => {
      const space = spaces.fresh();
      const worker = await start(space, { roles: ['worker'], providers: [Mails] });
      const app = await start(space, { roles });
      const { sent } = worker.get(Mails);
      expect(app.get(MEMBERSHIP)).toHaveProperty('publishDue');
      expect(app.get(RUN_QUEUE)).toHaveProperty('enqueue');

      const reply = await app.get(CronOperator).trigger('mail', { by: 'ann', payload: { to: 'ben' } });
      expect(reply).toMatchObject({ verdict: 'claimed' });
      await expect.poll(() => sent.length, { timeout: 10_000 }).toBe(1);
      expect(sent[0]).toMatchObject({ cron: 'mail', reason: 'manual', payload: { to: 'ben' } });

      await app.get(CronCatalog).set('newsletter', { expression: '0 4 * * *', handler: 'mail' }, { by: 'ann' });
      await app.get(CronOperator).trigger('newsletter', { by: 'ann' });
      await expect.poll(() => sent.length, { timeout: 10_000 }).toBe(2);
      expect(sent[1]).toMatchObject({ cron: 'newsletter', payload: null });
    },
  );
});

describe('a cron that is made at run time', () => {
  it('may not fire more often than any cron of the process that makes it', async () => {
    const app = await start(spaces.fresh(), { roles: ['worker'], minInterval: '1m' });
    const make = (expression: string) => app.get(CronCatalog).set('beat', { expression }, { by: 'ann' });
    await expect(make('*/30 * * * * *')).rejects.toThrow('at least 60 s between instants, and not 30 s');
    expect(await make('* * * * *')).toMatchObject({ generation: 1, state: 'active' });
  });
});

describe('a build of a program', () => {
  const declared = async (app: INestApplicationContext) => {
    const { entries } = await app.get<Catalog>(CATALOG).read();
    return Object.fromEntries(entries.map(({ definition, state, source }) => [definition.name, `${state} ${source}`]));
  };

  it('removes what it no longer has, and says so', async () => {
    const space = spaces.fresh();
    const one = { roles: ['worker'], app: 'office' } as const;
    const first = await start(space, { ...one, buildSeq: 1, providers: [Mails, Reports] });
    expect(await declared(first)).toEqual({ mail: 'active office', report: 'active office' });
    let events: ReturnType<typeof recordedEvents> | undefined;
    const onEvents = (app: INestApplicationContext) => void (events = recordedEvents(app.get(Telemetry)));
    await start(space, { ...one, buildSeq: 2, providers: [Mails], onEvents });
    expect(await declared(first)).toMatchObject({ mail: 'active office', report: 'removed office' });
    expect(events?.of('catalog.removed')).toEqual([{ crons: ['report'], buildSeq: 2, app: 'office' }]);

    await start(space, { ...one, buildSeq: 1, providers: [Mails, Reports], onEvents });
    expect(await declared(first)).toMatchObject({ mail: 'active office', report: 'removed office' });
    const [outdated] = events?.of('catalog.outdated-build') ?? [];
    expect(outdated?.crons.toSorted()).toEqual(['mail', 'report']);
  });
});
