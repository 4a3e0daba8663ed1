import 'reflect-metadata';
import { Test } from '@nestjs/testing';
import { expect, it } from 'vitest';
import { CATALOG, JOBS_SETTINGS, type JobsSettings } from '@fencepost/jobs/internal';
import { parseSchedule } from '@fencepost/schedule';
import type { Catalog } from '@fencepost/ledger/catalog';
import { AppModule } from '../../examples/nightly-report.js';
import { freshPrefix, testRedis } from '../support/redis.js';

it("the documented example boots, declares its cron, and is due at three o'clock in Berlin", async () => {
  const building = Test.createTestingModule({ imports: [AppModule] });
  const settings: JobsSettings = {
    enabled: true,
    redis: testRedis(),
    leases: 'redis',
    prefix: freshPrefix(),
    tenant: 'default',
    leaseTtlMs: 2_000,
    runLeaseMs: 3_000,
    concurrency: 1,
    drainDeadlineMs: 1_000,
    sweepEveryMs: 1_000,
    keepRuns: 10,
    keepForMs: 3_600_000,
    ledger: 'redis',
    waitReplicas: 0,
    minIntervalMs: 0,
    app: 'example',
    revision: null,
    pools: ['default'],
    removeAfterMs: 300_000,
    tracing: false,
    webhooks: [],
    log: false,
    alarms: { allowHosts: [], timeoutMs: 10_000, lookEveryMs: 5_000 },
  };
  const app = await building.overrideProvider(JOBS_SETTINGS).useValue(settings).compile();
  await app.init();
  try {
    const [entry] = (await app.get<Catalog>(CATALOG, { strict: false }).read()).entries;
    expect(entry?.definition).toMatchObject({ name: 'nightly-report', misfire: 'fire-once', overlap: 'skip' });
    const now = Date.parse('2026-11-20T12:00:00Z');
    const schedule = parseSchedule({ expression: '0 3 * * *', timeZone: 'Europe/Berlin', seed: 'nightly-report' }, now);
    expect(schedule.next(now)).toBe(Date.parse('2026-11-21T02:00:00Z'));
    expect(entry?.definition).toMatchObject({ expression: schedule.expression, timeZone: schedule.timeZone });
  } finally {
    await app.close();
  }
});
