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
import { CATALOG, MEMBERSHIP, POD_REGISTRY, RUN_QUEUE, type PodRegistry } from '@fencepost/jobs/internal';
import type { Catalog } from '@fencepost/ledger/catalog';
import { afterEach, describe, expect, it } from 'vitest';
import { OperationsModule, CronCatalog, CronOperator } from '@fencepost/operations';
import { recordedEvents } from '../support/recorded.js';
import { age } from '../support/declared-by.js';
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

describe('a cron that a live pod declares', () => {
  it('stays until its last pod has left', async () => {
    const space = spaces.fresh();
    const pod = await start(space, { roles: ['worker'], app: 'office', providers: [Mails] });
    const crons = (await start(space, { roles: ['scheduler'] })).get(CronCatalog);
    const order = { by: 'ann', reason: 'a test' };
    const pods = pod.get<PodRegistry>(POD_REGISTRY, { strict: false });
    await expect.poll(async () => (await pods.list()).flatMap(({ handlers }) => handlers)).toContain('mail');
    await expect(crons.remove('mail', order)).rejects.toThrow(
      `The cron "mail" can't be removed while live pods of the app "office" declare it`,
    );
    await age(pod);
    await apps.splice(apps.indexOf(pod), 1)[0]?.close();
    expect(await crons.remove('mail', order)).toEqual({ declaredBy: 'office' });
  });
});

describe('an app of which a new revision is deployed', () => {
  const declared = async (app: INestApplicationContext) => {
    const { entries } = await app.get<Catalog>(CATALOG).read();
    const lines = entries.map(({ definition, ...entry }) => {
      return [definition.name, `${entry.state} ${entry.app} ${entry.revision}`] as const;
    });
    return Object.fromEntries(lines);
  };

  it('keeps what a live pod declares, then removes it, says so, and has it back', { timeout: 60_000 }, async () => {
    const space = spaces.fresh();
    const one = { roles: ['worker'], app: 'office', removeAfter: '1s' } as const;
    const first = await start(space, { ...one, providers: [Mails, Reports] });
    expect(await declared(first)).toEqual({ mail: 'active office 1', report: 'active office 1' });
    let events: ReturnType<typeof recordedEvents> | undefined;
    const onEvents = (app: INestApplicationContext) => void (events = recordedEvents(app.get(Telemetry)));
    const second = await start(space, { ...one, providers: [Mails], onEvents });
    expect(await declared(second)).toEqual({ mail: 'active office 2', report: 'active office 1' });

    await first.close();
    const removed = { mail: 'active office 2', report: 'removed office 1' };
    await expect.poll(() => declared(second), { timeout: 30_000 }).toEqual(removed);
    const about = { app: 'office', revision: 2, crons: ['report'], count: 1, removeAfterMs: 1_000 };
    await expect.poll(() => events?.of('catalog.removed')).toEqual([about]);

    await start(space, { ...one, providers: [Mails, Reports], onEvents });
    expect(await declared(second)).toEqual({ mail: 'active office 2', report: 'active office 1' });
    expect(events?.of('catalog.restored')).toMatchObject([{ app: 'office', revision: 1, crons: ['report'] }]);
  });
});
