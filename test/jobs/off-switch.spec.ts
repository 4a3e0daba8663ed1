import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Injectable } from '@nestjs/common';
import type { DynamicModule, INestApplicationContext } from '@nestjs/common';
import { ConfigModule } from '@nestjs/config';
import { Test } from '@nestjs/testing';
import {
  JobHandler,
  Jobs,
  JobsModule,
  LEDGER,
  SingletonCron,
  Telemetry,
  type Role,
  type RunContext,
} from '@fencepost/jobs';
import { CATALOG, RedisPodRegistry, ROLES, SCHEDULER } from '@fencepost/jobs/internal';
import type { Ledger } from '@fencepost/ledger';
import type { Catalog } from '@fencepost/ledger/catalog';
import { CronOperator, OperationsModule } from '@fencepost/operations';
import { MetricsModule } from '@fencepost/operations/metrics';
import { Pool } from 'pg';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { freshSchema, postgresForTests } from '../support/postgres.js';
import { recordedEvents, type RecordedEvents } from '../support/recorded.js';
import { testRedis } from '../support/redis.js';
import { until } from '../support/until.js';
import { redisSpaces } from './redis-space.js';

const spaces = redisSpaces();
const apps: INestApplicationContext[] = [];
afterEach(async () => {
  vi.unstubAllEnvs();
  await Promise.all(apps.splice(0).map((app) => app.close()));
});

@Injectable()
class Reports {
  readonly ran: RunContext[] = [];

  @SingletonCron('* * * * * *', { name: 'tick', overlap: 'allow' })
  tick(): void {}

  @JobHandler('send')
  send(run: RunContext): void {
    this.ran.push(run);
  }
}

interface Started {
  readonly app: INestApplicationContext;
  readonly events: RecordedEvents;
}

async function start(jobs: DynamicModule, ...more: Promise<DynamicModule>[]): Promise<Started> {
  const imports = [jobs, OperationsModule.on(jobs), MetricsModule.on(jobs), ...more];
  const app = await Test.createTestingModule({ imports, providers: [Reports] }).compile();
  apps.push(app);
  const events = recordedEvents(app.get(Telemetry));
  await app.init();
  return { app, events };
}

type Space = ReturnType<typeof spaces.fresh>;

const BOTH: readonly Role[] = ['scheduler', 'worker'];
const placeOf = (space: Space) => ({ redis: testRedis(), ...space });

/** Each way to switch a process off, and what the log says of it. */
const WAYS: readonly (readonly [by: string, jobs: (space: Space) => DynamicModule])[] = [
  ['roles: []', (space) => JobsModule.forRoot({ roles: [], ...placeOf(space) })],
  ['enabled: false', (space) => JobsModule.forRoot({ roles: BOTH, enabled: false, ...placeOf(space) })],
  [
    'enabled: false',
    (space) =>
      JobsModule.forRootAsync({ roles: BOTH, useFactory: async () => ({ enabled: false, ...placeOf(space) }) }),
  ],
  [
    'FENCEPOST_ROLES=none',
    (space) => {
      vi.stubEnv('FENCEPOST_ROLES', 'none');
      return JobsModule.forRoot({ roles: BOTH, ...placeOf(space) });
    },
  ],
];

describe('a process that is switched off', () => {
  it.each(WAYS)('by %s leaves nothing in the store, and says once that it has no role (%#)', async (by, jobs) => {
    const space = spaces.fresh();
    const redis = spaces.redis();
    const { app, events } = await start(jobs(space));
    expect(events.of('roles.disabled')).toEqual([{ by }]);
    expect(events.names.filter((name) => name !== 'roles.disabled')).toEqual([]);
    expect([app.get(ROLES), app.get(SCHEDULER)]).toEqual([[], null]);
    expect(await new RedisPodRegistry({ redis, ...space }).list()).toEqual([]);
    expect((await app.get<Catalog>(CATALOG).read()).entries).toEqual([]);
    await app.close();
    // BullMQ describes the queue when it is opened; nothing else is written.
    expect(await redis.keys(`*${space.prefix}*`)).toEqual([`{${space.prefix}:default}:runs:meta`]);
  });

  it.each(WAYS)('by %s enqueues jobs and pauses crons of the pods that run (%#)', async (_by, jobs) => {
    const space = spaces.fresh();
    const pod = await start(JobsModule.forRoot({ roles: BOTH, ...placeOf(space), drainDeadline: '2s' }));
    const { app } = await start(jobs(space));
    const { runId } = await app.get(Jobs).enqueue('send', { to: 'anna' });
    await until('the run of the job has succeeded', async () => {
      const run = await app.get<Ledger>(LEDGER).readRun(runId);
      return run?.state === 'succeeded';
    });
    expect(pod.app.get(Reports).ran.map(({ id }) => id)).toEqual([runId]);
    expect(app.get(Reports).ran).toEqual([]);
    await app.get(CronOperator).pause('tick', { by: 'anna', reason: 'a test' });
    expect((await pod.app.get<Ledger>(LEDGER).readCron('tick')).paused).toMatchObject({ by: 'anna' });
  });

  it('adopts no catalog of Redis into PostgreSQL', async () => {
    const space = spaces.fresh();
    await start(JobsModule.forRoot({ roles: ['worker'], ...placeOf(space) }));
    const { url } = await postgresForTests();
    const postgres = { url, schema: freshSchema(), migrate: true };
    onTestFinished(async () => {
      const pool = new Pool({ connectionString: url, max: 1 });
      await pool.query(`DROP SCHEMA IF EXISTS "${postgres.schema}" CASCADE`);
      await pool.end();
    });
    const place = { ...placeOf(space), ledger: 'postgres', postgres } as const;
    const off = await start(JobsModule.forRoot({ roles: [], ...place }));
    expect((await off.app.get<Catalog>(CATALOG).read()).entries).toEqual([]);
    const scheduler = await start(JobsModule.forRoot({ roles: ['scheduler'], ...place }));
    const { entries } = await scheduler.app.get<Catalog>(CATALOG).read();
    expect(entries.map(({ definition: { name } }) => name).toSorted()).toEqual(['send', 'tick']);
  });
});

describe('FENCEPOST_ROLES', () => {
  it('takes a role from a process whose code gives it both', async () => {
    vi.stubEnv('FENCEPOST_ROLES', 'worker');
    const { app, events } = await start(JobsModule.forRoot({ roles: BOTH, ...placeOf(spaces.fresh()) }));
    expect(events.of('pod.started')).toMatchObject([{ roles: 'worker', crons: 2 }]);
    expect(app.get(SCHEDULER)).toBeNull();
  });

  it('gives a role to a process whose code gives it none', async () => {
    vi.stubEnv('FENCEPOST_ROLES', 'scheduler');
    const { events } = await start(JobsModule.forRoot({ roles: [], ...placeOf(spaces.fresh()) }));
    expect(events.of('pod.started')).toMatchObject([{ roles: 'scheduler' }]);
  });

  it('counts from a .env file, wherever ConfigModule stands among the imports', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'off-switch-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const envFilePath = join(folder, '.env');
    writeFileSync(envFilePath, 'FENCEPOST_ROLES=none\n');
    // Stubbed, so that it is as before after the test.
    vi.stubEnv('FENCEPOST_ROLES', undefined);
    const jobs = JobsModule.forRoot({ roles: BOTH, ...placeOf(spaces.fresh()) });
    const { events } = await start(jobs, ConfigModule.forRoot({ envFilePath }));
    expect(events.of('roles.disabled')).toEqual([{ by: 'FENCEPOST_ROLES=none' }]);
  });

  it('is refused at boot if it names no role', async () => {
    vi.stubEnv('FENCEPOST_ROLES', 'cleaner');
    const starting = start(JobsModule.forRoot({ roles: BOTH, ...placeOf(spaces.fresh()) }));
    await expect(starting).rejects.toThrow(
      'FENCEPOST_ROLES: expected none, scheduler, worker or scheduler,worker, got "cleaner".',
    );
  });
});
