import 'reflect-metadata';
import { CATALOG } from '@fencepost/jobs/internal';
import type { Catalog } from '@fencepost/ledger/catalog';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { freshPrefix, testRedis } from '../support/redis.js';
import { useReplicas } from './replicas.js';

const start = useReplicas();

beforeEach(() => {
  vi.stubEnv('REDIS_URL', testRedis());
  vi.stubEnv('PREFIX', freshPrefix());
});
afterEach(() => vi.unstubAllEnvs());

async function declared() {
  const { AppModule } = await import('../../examples/schedules-from-config.js');
  const app = await start(AppModule);
  const { entries } = await app.get<Catalog>(CATALOG, { strict: false }).read();
  return Object.fromEntries(entries.map((entry) => [entry.definition.name, entry]));
}

describe('the example of schedules from ConfigService', () => {
  it('declares what the variables say', async () => {
    vi.stubEnv('REPORT_CRON', '30 4 * * 1-5');
    vi.stubEnv('REPORT_TIME_ZONE', 'Europe/Berlin');
    vi.stubEnv('POLL_EVERY', '5m');
    vi.stubEnv('REPORTS', 'off');
    expect(await declared()).toMatchObject({
      'nightly-report': { definition: { expression: '30 4 * * 1-5', timeZone: 'Europe/Berlin' }, state: 'disabled' },
      poll: { definition: { expression: '@every 5m' } },
    });
  });

  it('declares its defaults where they are not set', async () => {
    vi.stubEnv('REPORT_TIME_ZONE', 'UTC');
    expect(await declared()).toMatchObject({
      'nightly-report': { definition: { expression: '0 3 * * *', timeZone: 'UTC' }, state: 'active' },
      poll: { definition: { expression: '@every 30s' } },
    });
  });

  it('refuses to start without a variable that has no default, and names the method', async () => {
    const refusal = /^Reports\.nightly: option "timeZone" of @SingletonCron: .*"REPORT_TIME_ZONE" does not exist/;
    await expect(declared()).rejects.toThrow(refusal);
  });
});
