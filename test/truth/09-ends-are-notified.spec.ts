import type { INestApplicationContext } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { JobsModule, type JobsModuleOptions } from '@fencepost/jobs';
import { OperationsModule, CronOperator, RunOperator } from '@fencepost/operations';
import type { Run } from '@fencepost/ledger/run';
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Pod } from '../support/pod.js';
import { freshSchema, postgresForTests, type TestPostgres } from '../support/postgres.js';
import { useReceivers, type Receiver } from '../support/receiver.js';
import { testRedis } from '../support/redis.js';
import { redisSpaces } from '../jobs/redis-space.js';

const PROGRAM = ['test/support/run-source.mjs', 'test/programs/notified-worker.ts'];
const SECRET = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
const WITHIN = { timeout: 60_000 };
const order = { by: 'ada', reason: 'a test' };

const spaces = redisSpaces();
const receiver = useReceivers();
const apps: INestApplicationContext[] = [];
const pods: Pod[] = [];
let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await postgresForTests();
}, 60_000);
afterEach(async () => {
  await Promise.all(pods.splice(0).map((pod) => pod.kill()));
  await Promise.all(apps.splice(0).map((app) => app.close()));
});

type Dies = '' | 'in its last attempt' | 'after finish';

/** A scheduler in this process, workers in their own, and somebody who listens to what they say. */
async function stage(ledger: 'redis' | 'postgres') {
  const heard = await receiver();
  const options: JobsModuleOptions = {
    ...{ redis: testRedis(), ...spaces.fresh(), leaseTtl: '1s', runLease: '1s', sweepEvery: '200ms' },
    ...{ app: 'test', ledger, drainDeadline: '1s' },
    ...(ledger === 'redis' ? {} : { postgres: { url: postgres.url, schema: freshSchema(), migrate: true } }),
    webhooks: [{ url: `${heard.url}/hook`, secret: SECRET, events: ['run.succeeded', 'run.failed', 'run.uncertain'] }],
    alarms: { allowHosts: ['127.0.0.1'], lookEvery: '200ms' },
  };
  const jobs = JobsModule.forRoot({ ...options, roles: ['scheduler'] });
  const app = await (await Test.createTestingModule({ imports: [jobs, OperationsModule.on(jobs)] }).compile()).init();
  apps.push(app);
  const worker = async (dies: Dies = '') => {
    const env = { OPTIONS: JSON.stringify({ ...options, roles: ['worker'] }), RECEIVER: heard.url, DIES: dies };
    const pod = new Pod({ name: `worker ${dies}`, args: PROGRAM, env });
    pods.push(pod);
    return pod.ready(30_000);
  };
  const trigger = async (cron: string) => {
    const reply = await app.get(CronOperator).trigger(cron, order);
    if (!('runId' in reply)) throw new Error(`Expected a run of ${cron}, it was not accepted.`);
    return reply.runId;
  };
  return { app, heard, worker, trigger };
}

/** Each message once, by its id: it may come again, and then it is the same. */
function messages({ received }: Receiver): { readonly type: string; readonly data: Record<string, unknown> }[] {
  const hooks = received.filter(({ path }) => path === '/hook');
  const byId = new Map(hooks.map((one) => [one.headers['webhook-id'], one]));
  return [...byId.values()].map(({ body, headers }) => new Webhook(SECRET).verify(body, headers) as never);
}

const pings = ({ received }: Receiver) => received.filter(({ path }) => path !== '/hook').map(({ path }) => path);

describe.each(['redis', 'postgres'] as const)('with the ledger in %s', (ledger) => {
  it('a run whose worker dies in its last attempt is notified of as failed', WITHIN, async () => {
    const { heard, worker, trigger } = await stage(ledger);
    const dying = await worker('in its last attempt');
    const runId = await trigger('report');
    expect(await dying.exited).toMatchObject({ signal: 'SIGKILL' });
    expect(messages(heard)).toEqual([]);
    await worker();
    await expect.poll(() => pings(heard), WITHIN).toEqual(['/no']);
    await expect.poll(() => messages(heard).length, WITHIN).toBe(1);
    const error = 'every attempt is used up; the last one never reported';
    expect(messages(heard)).toMatchObject([{ type: 'run.failed', data: { cron: 'report', runId, attempt: 2, error } }]);
  });

  it('a success is notified of when its worker dies right after it has recorded it', WITHIN, async () => {
    const { heard, worker, trigger } = await stage(ledger);
    const dying = await worker('after finish');
    const runId = await trigger('report');
    expect(await dying.exited).toMatchObject({ signal: 'SIGKILL' });
    await expect.poll(() => pings(heard), WITHIN).toEqual(['/ok']);
    await expect.poll(() => messages(heard), WITHIN).toMatchObject([{ type: 'run.succeeded', data: { runId } }]);
  });

  it('a run that a person gives up is notified of as failed, after the notification that it asks', WITHIN, async () => {
    const { app, heard, worker, trigger } = await stage(ledger);
    await worker();
    const runId = await trigger('charge');
    await expect.poll(() => messages(heard).map(({ type }) => type), WITHIN).toEqual(['run.uncertain']);
    expect(messages(heard)[0]?.data).toMatchObject({ runId, effect: 'card', unknownReason: 'timeout' });
    const [{ unresolvedEffect, attempt }] = (await app.get(RunOperator).uncertain()) as [Run];
    const asked = { attempt, effect: 'card', item: null, since: unresolvedEffect?.since ?? 0 };
    await app.get(RunOperator).resolve(runId, { ...order, ...asked, answer: 'give-up' });
    await expect.poll(() => messages(heard).map(({ type }) => type), WITHIN).toEqual(['run.uncertain', 'run.failed']);
    await expect.poll(() => pings(heard), WITHIN).toEqual(['/asks', '/no']);
  });
});
