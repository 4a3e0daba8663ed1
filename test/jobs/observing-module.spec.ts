import { Injectable, type DynamicModule, type INestApplicationContext, type Provider } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { JobsModule, SingletonCron, Telemetry, type Role } from '@fencepost/jobs';
import { OperationsModule, CronOperator, JOURNAL } from '@fencepost/operations';
import { JournalFeed, RedisJournal, type Journal, type JournalEntry } from '@fencepost/operations/journal';
import { MetricsModule } from '@fencepost/operations/metrics';
import { LeaseKeeper, ownerPrefix } from '@fencepost/lease/internal';
import { afterEach, describe, expect, it } from 'vitest';
import { testRedis } from '../support/redis.js';
import { redisSpaces } from './redis-space.js';

const apps: INestApplicationContext[] = [];

@Injectable()
class Mails {
  @SingletonCron('0 0 1 1 *', { name: 'mail' })
  mail(): void {}
}

const holderOf = (app: INestApplicationContext) => app.get(LeaseKeeper).holder;

async function warningsOf(imports: DynamicModule[]): Promise<unknown[]> {
  const app = await Test.createTestingModule({ imports }).compile();
  apps.push(app);
  const warnings: unknown[] = [];
  app.get(Telemetry).listen((name, detail) => void (name === 'alarms.unwatched' && warnings.push(detail)));
  await app.init();
  return warnings;
}

describe('the observing module', () => {
  const spaces = redisSpaces();

  afterEach(async () => {
    await Promise.all(apps.splice(0).map((app) => app.close()));
  });

  type Space = ReturnType<typeof spaces.fresh>;

  async function start(space: Space, roles: readonly Role[], more: { pod: string; providers?: Provider[] }) {
    const { pod, providers = [] } = more;
    const jobs = JobsModule.forRoot({ roles, redis: testRedis(), ...space, pod, app: 'office' });
    // Both need what observes the pod, and share it.
    const imports = [jobs, OperationsModule.on(jobs), MetricsModule.on(jobs)];
    const app = await Test.createTestingModule({ imports, providers }).compile();
    apps.push(app);
    return app.init();
  }

  /** What somebody else reads who looks at the same store. */
  function outside(space: Space) {
    const at = { redis: spaces.redis(), ...space };
    const journal = new RedisJournal(at);
    const told = async () => (await journal.latest({ limit: 100 })).toReversed();
    return { journal, told, events: async () => (await told()).map(({ event }) => event) };
  }

  describe('a pod that runs', () => {
    it(
      'writes what happens to it from its start to its last word into the journal of all',
      { timeout: 30_000 },
      async () => {
        const space = spaces.fresh();
        const { told, events, journal } = outside(space);
        const worker = await start(space, ['worker'], { pod: 'w', providers: [Mails] });
        const scheduler = await start(space, ['scheduler'], { pod: 's' });
        await expect.poll(events, { timeout: 10_000 }).toContain('lease.acquired');
        await worker.get(CronOperator).trigger('mail', { by: 'ann' });
        await expect.poll(events, { timeout: 10_000 }).toContain('attempt.succeeded');
        const by = { scheduler: ownerPrefix(holderOf(scheduler)), worker: ownerPrefix(holderOf(worker)) };
        await Promise.all(apps.splice(0).map((app) => app.close()));

        const all = await told();
        const of = (event: JournalEntry['event']) => all.find((entry) => entry.event === event);
        expect(of('catalog.declared')).toMatchObject({
          pod: by.worker,
          role: 'worker',
          cron: null,
          detail: { declared: 1 },
        });
        expect(of('attempt.succeeded')).toMatchObject({ pod: by.worker, cron: 'mail', runId: expect.any(String) });
        const acquired = { pod: by.scheduler, role: 'scheduler', cron: 'mail', detail: { fence: expect.any(String) } };
        expect(of('lease.acquired')).toMatchObject(acquired);
        expect(of('lease.released')).toMatchObject({ pod: by.scheduler, detail: { holder: by.scheduler } });
        const ofMail = await journal.ofCron('mail', { limit: 10 });
        expect(ofMail.map(({ event }) => event)).toEqual(['lease.released', 'lease.acquired', 'catalog.created']);
      },
    );

    it('offers what other pods write to the rest of its program', async () => {
      const app = await start(spaces.fresh(), ['worker'], { pod: 'w', providers: [Mails] });
      const heard: JournalEntry[] = [];
      app.get(JournalFeed).subscribe((entry) => void heard.push(entry), '0-0');
      await expect.poll(() => heard.map(({ event }) => event)).toContain('catalog.declared');
      expect(await app.get<Journal>(JOURNAL).latest({ limit: 10 })).toEqual(heard.toReversed());
    });
  });

  describe('a scheduler without OperationsModule', () => {
    it('warns at boot when webhooks are configured, because nobody calls them', async () => {
      const space = spaces.fresh();
      const webhooks = [
        { url: 'https://alerts.example/hooks', secret: `whsec_${Buffer.alloc(24).toString('base64')}` },
      ];
      const jobs = JobsModule.forRoot({ roles: ['scheduler'], redis: testRedis(), ...space, webhooks });
      const alone = await warningsOf([jobs]);
      const watched = await warningsOf([jobs, OperationsModule.on(jobs)]);
      expect([alone, watched]).toEqual([[{ crons: [], webhooks: 1 }], []]);
    });
  });
});
