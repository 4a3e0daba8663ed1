import {
  Injectable,
  type BeforeApplicationShutdown,
  type INestApplicationContext,
  type Provider,
} from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { LeaseKeeper } from '@fencepost/lease/internal';
import { afterEach, describe, expect, it } from 'vitest';
import { redisSpaces } from '../../../../test/jobs/redis-space.js';
import { testRedis } from '../../../../test/support/redis.js';
import type { PodRegistry } from '../pods/pod-registry.js';
import { RedisPodRegistry } from '../pods/redis-pod-registry.js';
import { Jobs } from '../enqueuing/jobs.js';
import { JobHandler } from './job-handler.decorator.js';
import { JobsModule } from './jobs.module.js';
import type { Role } from './options.js';
import { SingletonCron } from './singleton-cron.decorator.js';
import { POD_REGISTRY } from './tokens.js';

const apps: INestApplicationContext[] = [];

@Injectable()
class Mails {
  @SingletonCron('0 0 1 1 *', { name: 'mail' })
  mail(): void {}
}

/** A run that takes as long as its test wants. */
@Injectable()
class Slow {
  end = () => {};
  #onBegun = () => {};
  readonly #ended = new Promise<void>((resolve) => (this.end = resolve));
  readonly begun = new Promise<void>((resolve) => (this.#onBegun = resolve));

  @JobHandler('slow')
  async run(): Promise<void> {
    this.#onBegun();
    await this.#ended;
  }
}

@Injectable()
class Shutdown implements BeforeApplicationShutdown {
  #onBegun = () => {};
  readonly begun = new Promise<void>((resolve) => (this.#onBegun = resolve));

  beforeApplicationShutdown(): void {
    this.#onBegun();
  }
}

describe('a pod with JobsModule alone', () => {
  const spaces = redisSpaces();

  afterEach(async () => {
    await Promise.all(apps.splice(0).map((app) => app.close()));
  });

  type Space = ReturnType<typeof spaces.fresh>;

  interface Pod {
    readonly roles: readonly Role[];
    readonly pod: string;
    readonly providers?: Provider[];
  }

  async function start(space: Space, { roles, pod, providers = [] }: Pod) {
    const jobs = JobsModule.forRoot({ roles, redis: testRedis(), ...space, pod, app: 'office', log: false });
    const app = await Test.createTestingModule({ imports: [jobs], providers }).compile();
    apps.push(app);
    return app.init();
  }

  const seenFrom = (space: Space) => new RedisPodRegistry({ redis: spaces.redis(), ...space });

  it('is listed with both its roles, and no longer when it has ended', { timeout: 30_000 }, async () => {
    const space = spaces.fresh();
    const pods = seenFrom(space);
    const app = await start(space, { roles: ['scheduler', 'worker'], pod: 'both', providers: [Mails] });
    const first = async () => (await pods.list())[0];
    await expect.poll(first).toMatchObject({ handlers: ['mail'], rttMs: expect.any(Number) });
    const own = await first();
    const { holder } = app.get(LeaseKeeper);
    expect(own).toMatchObject({
      pod: holder,
      label: 'both',
      roles: ['scheduler', 'worker'],
      pid: process.pid,
      node: process.version,
      app: 'office',
      ledger: 'redis',
      leaseTtlMs: 10_000,
      zoneData: process.versions.tz,
      concurrency: 10,
      running: 0,
      assigned: expect.any(Number),
      held: expect.any(Number),
    });
    // The server is on this machine, and has its clock.
    expect(Math.abs(own?.clockSkewMs ?? Infinity)).toBeLessThan(5_000);
    await app.close();
    expect(await pods.list()).toEqual([]);
  });

  it('reports only what its role knows', async () => {
    const space = spaces.fresh();
    const pods = seenFrom(space);
    await start(space, { roles: ['scheduler'], pod: 'only' });
    await expect.poll(() => pods.list()).toMatchObject([{ assigned: 0, held: 0 }]);
    const nothing = { concurrency: null, running: null, handlers: [], revision: null };
    expect(await pods.list()).toMatchObject([{ roles: ['scheduler'], ...nothing }]);
  });

  it('reports the revision that its worker declares', async () => {
    const space = spaces.fresh();
    const app = await start(space, { roles: ['worker'], pod: 'w', providers: [Mails] });
    const registry = app.get<PodRegistry>(POD_REGISTRY);
    await expect.poll(async () => (await registry.look()).revisions).toMatchObject([{ app: 'office', revision: 1 }]);
  });

  it('stays listed until its runs have ended', { timeout: 30_000 }, async () => {
    const space = spaces.fresh();
    const app = await start(space, { roles: ['worker'], pod: 'w', providers: [Slow, Shutdown] });
    const { begun, end } = app.get(Slow);
    await app.get(Jobs).enqueue('slow', {});
    await begun;
    const closing = apps.splice(0).map((one) => one.close());
    await app.get(Shutdown).begun;
    // More than once, because a leave may be on its way.
    for (let n = 0; n < 5; n += 1) expect(await seenFrom(space).list()).toHaveLength(1);
    end();
    await Promise.all(closing);
    expect(await seenFrom(space).list()).toEqual([]);
  });
});
