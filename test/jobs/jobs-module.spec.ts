import { Injectable } from '@nestjs/common';
import type { INestApplicationContext, Provider } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import {
  JobsModule,
  LEDGER,
  SingletonCron,
  Telemetry,
  type Role,
  type RunContext,
  type TransactionalRunContext,
} from '@fencepost/jobs';
import { CATALOG } from '@fencepost/jobs/internal';
import type { Catalog } from '@fencepost/ledger/catalog';
import type { Ledger } from '@fencepost/ledger';
import { SetupError, systemClock, type Clock } from '@fencepost/lease';
import { closeRedis } from '@fencepost/lease/redis';
import { CLOCK } from '@fencepost/lease/nest';
import { Redis } from 'ioredis';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { recordedEvents } from '../support/recorded.js';
import { privateRedis, testRedis } from '../support/redis.js';
import { redisSpaces } from './redis-space.js';

/** Known to the compiler as a text only: what it can read it refuses itself. */
const AT_SIXTY_ONE: string = '61 * * * *';

const spaces = redisSpaces();
const apps: INestApplicationContext[] = [];
afterEach(async () => {
  await Promise.all(apps.splice(0).map((app) => app.close()));
  expect(waiting.size).toBe(0);
});

@Injectable()
class Ticker {
  readonly ran: RunContext[] = [];

  @SingletonCron('* * * * * *', { name: 'tick', overlap: 'allow' })
  tick(run: RunContext): void {
    this.ran.push(run);
  }
}

type Jobs = ReturnType<typeof JobsModule.forRoot>;

async function start(jobs: Jobs, ...providers: Provider[]): Promise<INestApplicationContext> {
  const app = await Test.createTestingModule({ imports: [jobs], providers })
    .overrideProvider(CLOCK)
    .useValue(clock)
    .compile();
  // Before it starts: what half a start has opened is closed as well.
  apps.push(app);
  return app.init();
}

function both(space: { prefix: string; tenant: string }, redis = testRedis()): Jobs {
  return JobsModule.forRoot({ roles: ['scheduler', 'worker'], redis, ...space, drainDeadline: '2s' });
}

/** On the shared server other files' connections come and go. */
async function ownServer(): Promise<{ url: string; looking: Redis }> {
  const server = await privateRedis({ 'maxmemory-policy': 'noeviction' });
  const looking = new Redis(server.url);
  onTestFinished(async () => {
    await closeRedis(looking);
    await server.stop();
  });
  return { url: server.url, looking };
}

/** The connections that the library itself opened, by the ids the server gave them. */
async function connections(redis: Redis): Promise<string[]> {
  const list = (await redis.client('LIST')) as string;
  const ours = list.split('\n').filter((line) => /name=(fencepost-|\S*bull)/.test(line) || / sub=[1-9]/.test(line));
  return ours.map((line) => /id=(\d+)/.exec(line)?.[1] ?? '');
}

/** The real clock, and how many timers wait on it: an application that is closed has none. */
const waiting = new Set<object>();
const clock: Clock = {
  ...systemClock,
  after: (delayMs, task) => {
    const timer = {};
    waiting.add(timer);
    const cancel = systemClock.after(delayMs, () => {
      waiting.delete(timer);
      task();
    });
    return () => {
      waiting.delete(timer);
      cancel();
    };
  },
};

describe('JobsModule in both roles', () => {
  it('runs a cron each second, once, and leaves no connection and no timer when it closes', async () => {
    const { url, looking } = await ownServer();
    const app = await start(both(spaces.fresh(), url), Ticker);
    const ticker = app.get(Ticker);
    await expect.poll(() => ticker.ran.length, { timeout: 10_000 }).toBeGreaterThanOrEqual(3);
    expect((await connections(looking)).length).toBeGreaterThan(0);
    const ledger = app.get<Ledger>(LEDGER);
    const runs = (await ledger.runs('tick', 100)).filter(({ state }) => state === 'succeeded');
    const instants = runs.map(({ scheduledAt }) => scheduledAt).toReversed();
    expect(instants).toEqual(instants.map((_, n) => (instants[0] ?? 0) + n * 1_000));
    expect(new Set(ticker.ran.map(({ id }) => id)).size).toBe(ticker.ran.length);

    const events = recordedEvents(app.get(Telemetry));
    await app.close();
    await expect.poll(() => connections(looking)).toEqual([]);
    expect(waiting.size).toBe(0);
    expect(events.of('lease.released')).toHaveLength(1);
    expect(events.of('lease.lost')).toEqual([]);
    expect([...events.of('store.failed'), ...events.of('queue.failed')]).toEqual([]);
  });

  it('tells of its crons in the catalog, whose scheduler holds no user code', async () => {
    const space = spaces.fresh();
    const worker = await start(JobsModule.forRoot({ roles: ['worker'], redis: testRedis(), ...space }), Ticker);
    const scheduler = await start(JobsModule.forRoot({ roles: ['scheduler'], redis: testRedis(), ...space }));
    const { entries } = await scheduler.get<Catalog>(CATALOG).read();
    expect(entries).toMatchObject([{ definition: { name: 'tick' }, generation: 1 }]);
    await expect.poll(() => worker.get(Ticker).ran.length, { timeout: 10_000 }).toBeGreaterThan(0);
  });
});

describe('the options of JobsModule', () => {
  it.each([
    ['an unknown one', ['cleaner'], '["cleaner"]'],
    ['one every object has', ['toString'], '["toString"]'],
    ['a text', 'worker', '"worker"'],
    ['nothing', undefined, 'undefined'],
  ])('refuse as roles %s', (_what, roles, got) => {
    const wrong = () => JobsModule.forRoot({ roles: roles as unknown as Role[], redis: testRedis() });
    expect(wrong).toThrow(SetupError);
    const expected = 'expected a list of "scheduler", "worker" or both, or [] for a process that runs nothing';
    expect(wrong).toThrow(`JobsModule, option "roles": ${expected}, got ${got}.`);
  });

  it('are checked before anything is connected to', async () => {
    const { url, looking } = await ownServer();
    const wrong = JobsModule.forRoot({ roles: ['worker'], redis: url, prefix: 'a:b' });
    await expect(start(wrong)).rejects.toThrow('JobsModule, option "prefix"');
    expect(await connections(looking)).toEqual([]);
  });

  it('do not help against a cron that can not be: the process refuses to start', async () => {
    @Injectable()
    class Wrong {
      @SingletonCron(AT_SIXTY_ONE, { name: 'wrong' })
      tick(): void {}
    }
    await expect(start(both(spaces.fresh()), Wrong)).rejects.toThrow('Wrong.tick: the expression of @SingletonCron');
  });

  it('do not help against a handler with transactions on a ledger that has none', async () => {
    @Injectable()
    class Booking {
      @SingletonCron('* * * * *', { name: 'book', transactions: true })
      book(run: TransactionalRunContext): Promise<number> {
        return run.transaction(() => 1);
      }
    }
    const refusal =
      'Booking.book: option "transactions": expected ledger: "postgres" in JobsModule beside it, got "redis".';
    await expect(start(both(spaces.fresh()), Booking)).rejects.toThrow(refusal);
    const scheduling = start(
      JobsModule.forRoot({ roles: ['scheduler'], redis: testRedis(), ...spaces.fresh() }),
      Booking,
    );
    await expect(scheduling).resolves.toBeDefined();
  });
});

describe('pods of one app that declare a cron differently', () => {
  it('start both, and the newer revision is in force', async () => {
    const space = spaces.fresh();
    @Injectable()
    class OtherTicker {
      @SingletonCron('*/2 * * * * *', { name: 'tick' })
      tick(): void {}
    }
    const jobs = (app: string) => JobsModule.forRoot({ roles: ['worker'], redis: testRedis(), ...space, app });
    await start(jobs('shop'), Ticker);
    const newer = await start(jobs('shop'), OtherTicker);
    const [entry] = (await newer.get<Catalog>(CATALOG, { strict: false }).read()).entries;
    expect(entry).toMatchObject({ app: 'shop', revision: 2, definition: { expression: '*/2 * * * * *' } });
  });
});
