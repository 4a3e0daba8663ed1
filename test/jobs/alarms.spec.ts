import { Injectable } from '@nestjs/common';
import type { INestApplicationContext, Provider } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { JobsModule, SingletonCron, Telemetry, type Role } from '@fencepost/jobs';
import { OperationsModule, CronCatalog, CronOperator } from '@fencepost/operations';
import { Mutes, Receivers } from '@fencepost/operations/internal';
import { Webhook } from 'standardwebhooks';
import { afterEach, describe, expect, it } from 'vitest';
import { recordedEvents } from '../support/recorded.js';
import { useReceivers, type Received, type Receiver } from '../support/receiver.js';
import { testRedis } from '../support/redis.js';
import { redisSpaces } from './redis-space.js';

const SECRET = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
const WITHIN = { timeout: 20_000 };
const order = { by: 'ada', reason: 'a test' };

const spaces = redisSpaces();
const receiver = useReceivers();
const apps: INestApplicationContext[] = [];
afterEach(() => Promise.all(apps.splice(0).map((app) => app.close())));

const SAID = {
  description: 'Adds up the year.',
  owner: 'Team Books',
  runbookUrl: 'https://wiki.example/books',
};

@Injectable()
class Reports {
  @SingletonCron('0 0 1 1 *', { name: 'report', expectEvery: '2s', ...SAID })
  report(): void {}

  @SingletonCron('0 0 1 1 *', { name: 'broken', retry: { attempts: 1 } })
  broken(): never {
    throw new Error('no paper; redis://app:canary@cache');
  }
}

interface Given {
  readonly roles: readonly Role[];
  readonly space: { prefix: string; tenant: string };
  readonly told: Receiver;
  readonly allowHosts?: readonly string[];
  readonly providers?: Provider[];
}

async function started({ roles, space, told, allowHosts = ['127.0.0.1'], providers = [] }: Given) {
  const events = [...['alarm.raised', 'alarm.cleared', 'run.succeeded', 'run.failed', 'run.uncertain']] as const;
  const jobs = JobsModule.forRoot({
    ...{ roles, redis: testRedis(), ...space, leaseTtl: '1s', drainDeadline: '1s', app: 'test' },
    webhooks: [{ url: `${told.url}/hooks`, secret: SECRET, events: [...events] as never }],
    alarms: { allowHosts, lookEvery: '200ms', timeout: '2s' },
  });
  const app = await Test.createTestingModule({ imports: [jobs, OperationsModule.on(jobs)], providers }).compile();
  apps.push(app);
  const recorded = recordedEvents(app.get(Telemetry));
  return { app: await app.init(), events: recorded };
}

/** Each message as its receiver reads it, by a library that is not ours. */
function bodyOf({ body, headers }: Received): { readonly type: string; readonly data: Record<string, unknown> } {
  return new Webhook(SECRET).verify(body, headers) as never;
}

const hooks = ({ received }: Receiver) => received.filter(({ path }) => path === '/hooks').map(bodyOf);
const pings = ({ received }: Receiver) => received.filter(({ path }) => path !== '/hooks').map(({ path }) => path);

describe('those outside', () => {
  it('hear that a cron has not succeeded, signed, and that it is over', WITHIN, async () => {
    const [space, told] = [spaces.fresh(), await receiver()];
    const { events } = await started({ roles: ['scheduler'], space, told });
    const { app } = await started({ roles: ['scheduler', 'worker'], space, told, providers: [Reports] });
    await expect.poll(() => hooks(told), WITHIN).toMatchObject([{ type: 'alarm.raised' }]);
    expect(hooks(told)[0]?.data).toMatchObject({ cron: 'report', kind: 'missed', ...SAID });
    expect(hooks(told)[0]?.data['text']).toMatch(/. Owner: Team Books\. Runbook: https:\/\/wiki\.example\/books$/);
    await app.get(CronOperator).trigger('report', order);
    await expect
      .poll(
        () =>
          hooks(told)
            .map(({ type }) => type)
            .toSorted(),
        WITHIN,
      )
      .toEqual(['alarm.raised', 'run.succeeded', 'alarm.cleared'].toSorted());
    expect(events.of('alarm.alone').length).toBeLessThan(2);
    const ids = told.received.map(({ headers }) => headers['webhook-id']);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it(
    'hear of a failure again until they take it, with the same id and without what the error quotes',
    WITHIN,
    async () => {
      const [space, told] = [spaces.fresh(), await receiver()];
      const { app, events } = await started({ roles: ['scheduler', 'worker'], space, told, providers: [Reports] });
      told.next(500);
      await app.get(CronOperator).trigger('broken', order);
      const failures = () => hooks(told).filter(({ type }) => type === 'run.failed');
      await expect.poll(() => failures().length, WITHIN).toBe(2);
      expect(failures()[0]?.data).toMatchObject({ cron: 'broken', error: 'Error: no paper; redis://***@cache' });
      for (const key of Object.keys(SAID)) expect(failures()[0]?.data).not.toHaveProperty(key);
      const ids = told.received
        .filter(({ body }) => body.includes('run.failed'))
        .map(({ headers }) => headers['webhook-id']);
      expect(new Set(ids).size).toBe(1);
      expect(events.of('webhook.failed')).toMatchObject([{ about: 'run.failed', attempt: 1, retryInMs: 5_000 }]);
    },
  );

  it('hear nothing of a failure of a muted cron, and still of its successes', WITHIN, async () => {
    const [space, told] = [spaces.fresh(), await receiver()];
    const { app } = await started({ roles: ['scheduler', 'worker'], space, told, providers: [Reports] });
    await app.get(Mutes).set({ cron: 'broken' }, { ...order, forMs: 60_000 });
    await app.get(CronOperator).trigger('broken', order);
    const outcomes = async () => {
      const [hook] = await app.get(Receivers).list();
      return (hook?.deliveries ?? [])
        .filter(({ cron }) => cron === 'broken')
        .map(({ about, outcome }) => [about, outcome]);
    };
    await expect.poll(outcomes, WITHIN).toEqual([['run.failed', 'muted']]);
    await app.get(Mutes).set({ cron: 'report' }, { ...order, forMs: 60_000 });
    await app.get(CronOperator).trigger('report', order);
    await expect.poll(() => hooks(told).map(({ type }) => type), WITHIN).toContain('run.succeeded');
    expect(hooks(told).map(({ data }) => data['cron'])).not.toContain('broken');
  });

  it('are pinged for a cron that was made at run time: its success, and what it misses', WITHIN, async () => {
    const [space, told] = [spaces.fresh(), await receiver()];
    const { app } = await started({ roles: ['scheduler', 'worker'], space, told, providers: [Reports] });
    const ping = { success: `${told.url}/ok`, failure: `${told.url}/no`, missed: `${told.url}/missed` };
    const settings = { expression: '0 0 1 1 *', handler: 'report', expectEvery: '1s', ping };
    await app.get(CronCatalog).set('pinged', settings, order);
    await app.get(CronCatalog).set('failing', { ...settings, handler: 'broken', expectEvery: '1d' }, order);
    await expect.poll(() => pings(told), WITHIN).toEqual(['/missed']);
    await app.get(CronOperator).trigger('pinged', order);
    await expect.poll(() => pings(told), WITHIN).toContain('/ok');
    await app.get(CronOperator).trigger('failing', order);
    await expect.poll(() => pings(told), WITHIN).toContain('/no');
    await expect.poll(() => hooks(told).some(({ data }) => data['kind'] === 'failed'), WITHIN).toBe(true);
    // The watcher has found the same failure, and the same message is sent once.
    expect(pings(told).filter((path) => path === '/no')).toHaveLength(1);
  });

  it('on the own network hear nothing unless somebody has named them', WITHIN, async () => {
    const [space, told] = [spaces.fresh(), await receiver()];
    const { events } = await started({
      roles: ['scheduler', 'worker'],
      space,
      told,
      allowHosts: [],
      providers: [Reports],
    });
    await expect.poll(() => events.of('webhook.failed').length, WITHIN).toBeGreaterThan(0);
    expect(events.of('webhook.failed')[0]).toMatchObject({ to: `127.0.0.1:${told.port}`, about: 'alarm.raised' });
    expect(events.of('webhook.failed')[0]?.err.message).toContain('not public');
    expect(told.received).toEqual([]);
  });
});
