import { hostname } from 'node:os';
import { Injectable } from '@nestjs/common';
import type { INestApplicationContext } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { JobsModule, SingletonCron, type JobsModuleOptions, type Role } from '@fencepost/jobs';
import { OperationsModule, AUDIT_TRAIL, CronOperator, Doctor, LeaseService, RunOperator } from '@fencepost/operations';
import type { AuditTrail } from '@fencepost/ledger/audit-trail';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { testRedis } from '../support/redis.js';
import { redisSpaces } from './redis-space.js';

const spaces = redisSpaces();
const apps: INestApplicationContext[] = [];
afterEach(async () => {
  await Promise.all(apps.splice(0).map((app) => app.close()));
});

@Injectable()
class Reports {
  @SingletonCron('* * * * * *', { name: 'tick' })
  tick(): void {}
}

async function start(
  space: ReturnType<typeof spaces.fresh>,
  options: Partial<JobsModuleOptions> & { readonly roles?: readonly Role[] } = {},
) {
  const { roles = ['scheduler', 'worker'], ...more } = options;
  const jobs = JobsModule.forRoot({ roles, redis: testRedis(), ...space, drainDeadline: '2s', ...more });
  const app = await Test.createTestingModule({
    imports: [jobs, OperationsModule.on(jobs)],
    providers: [Reports],
  }).compile();
  apps.push(app);
  return app.init();
}

/** The one that holds the cron, once its pod is known to be there. */
async function heldIn(app: INestApplicationContext) {
  const service = app.get(LeaseService);
  const held = await vi.waitFor(
    async () => {
      const lease = await service.look('tick');
      if (lease?.holderSilentMs === null || !lease) throw new Error('Nobody holds it so far.');
      return lease;
    },
    { timeout: 10_000 },
  );
  return { service, held };
}

describe('a lease that is cleared while its holder lives', () => {
  it('is taken again under a larger fence, and no instant runs twice', async () => {
    const space = spaces.fresh();
    // It is refused its next renewal after a third of that.
    const app = await start(space, { pod: 'pod-a', leaseTtl: '2s' });
    await start(space, { pod: 'pod-b', leaseTtl: '2s' });
    const { service, held } = await heldIn(app);
    const order = { fence: held.fence, by: 'otto', role: 'admin', from: 'test', reason: 'to see what happens' };
    const { marker: mark } = await service.clear('tick', order);
    const report = await service.watchDuplicates('tick', 3_000, { marker: mark });
    expect(report.observations.filter(({ level }) => level !== 'note')).toEqual([]);
    expect(report.holding?.fence).toBeGreaterThan(held.fence);
    const records = await app.get<AuditTrail>(AUDIT_TRAIL).list({ limit: 10 });
    expect(records).toMatchObject([{ action: 'clear-lease', cron: 'tick', by: 'otto' }]);
  });
});

describe("an order of the application's own code", () => {
  it('leaves an audit record, and one that was refused none', async () => {
    const app = await start(spaces.fresh(), { roles: ['scheduler', 'worker'] });
    const [crons, runs] = [app.get(CronOperator), app.get(RunOperator)];
    const order = { by: 'deploy', reason: 'the schema changes' };
    await crons.pause('tick', order);
    const reply = await crons.trigger('tick', { ...order, force: true });
    const runId = reply.verdict === 'claimed' ? reply.runId : null;
    await expect(runs.retry('tick@manual-none', order)).rejects.toThrow('not found');
    const about = { ...order, role: 'app', from: `app ${hostname()}`, cron: 'tick' };
    expect(await app.get<AuditTrail>(AUDIT_TRAIL).list({ limit: 10 })).toMatchObject([
      { ...about, action: 'trigger', runId },
      { ...about, action: 'pause', runId: null },
    ]);
  });
});

describe('an examination of pods that run', () => {
  it('finds nothing wrong with two of them', async () => {
    const space = spaces.fresh();
    const app = await start(space, { pod: 'pod-a', app: 'office' });
    await start(space, { pod: 'pod-b', app: 'office' });
    await heldIn(app);
    const wrong = async () => {
      const findings = await app.get(Doctor).examine();
      // How the server of the tests is set is its own affair, and how busy this machine is.
      const mine = findings.filter(({ subject, code }) => !subject.startsWith('redis') && !/LEASE|LATE/.test(code));
      return mine.map(({ level, code }) => `${level} ${code}`);
    };
    await expect.poll(wrong, { timeout: 10_000 }).toEqual(['ok LOOKED_AT']);
  });

  it('finds a lonely scheduler, and that the worker of a cron is gone', async () => {
    const space = spaces.fresh();
    const worker = await start(space, { roles: ['worker'], pod: 'worker-a' });
    const app = await start(space, { roles: ['scheduler'], pod: 'pod-a' });
    await heldIn(app);
    const codes = async () => (await app.get(Doctor).examine()).map(({ code }) => code);
    await expect.poll(codes, { timeout: 10_000 }).toContain('ONE_SCHEDULER');
    apps.splice(apps.indexOf(worker), 1);
    await worker.close();
    expect(await codes()).toContain('NO_WORKER');
  });
});
