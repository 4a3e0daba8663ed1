import { SetupError } from '@fencepost/lease';
import { describe, expect, it } from 'vitest';
import { refusalOf } from '../../../../test/support/refusals.js';
import { jobsSettings, type JobsModuleOptions } from './options.js';

const redis = 'redis://localhost:6379';
const ALARMS = { webhooks: [], alarms: { allowHosts: [], timeoutMs: 10_000, lookEveryMs: 5_000 } };
const WHERE =
  'option "redis": expected a Redis address such as redis://localhost:6379, or { url }, { sentinel: { sentinels, name } } or ' +
  '{ cluster: [address, …] }, or a connection of ioredis, or a function that returns one';

const refusal = (options: unknown) => refusalOf(SetupError, () => jobsSettings(options as JobsModuleOptions));

describe('the options of JobsModule', () => {
  it('have their defaults', () => {
    const { app, ...settings } = jobsSettings({ redis });
    expect(settings).toEqual({
      redis,
      ...ALARMS,
      prefix: 'fencepost',
      tenant: 'default',
      concurrency: 10,
      pools: ['default'],
      keepRuns: 1_000,
      leaseTtlMs: 10_000,
      runLeaseMs: 30_000,
      drainDeadlineMs: 10_000,
      sweepEveryMs: 5_000,
      minIntervalMs: 0,
      keepForMs: 30 * 24 * 3_600_000,
      ledger: 'redis',
      leases: 'redis',
      waitReplicas: 0,
      tracing: false,
      log: true,
      revision: null,
      removeAfterMs: 300_000,
      enabled: true,
    });
    expect(app).toMatch(/./);
  });

  it('are taken as they are given', () => {
    const durations = {
      leaseTtl: '300ms',
      runLease: '2m',
      drainDeadline: 0,
      sweepEvery: '1s',
      minInterval: '1m',
      removeAfter: '1h',
    };
    const rest = {
      prefix: 'p',
      tenant: 't',
      pod: 'pod-7',
      concurrency: 1,
      pools: ['default', 'heavy'],
      keepRuns: 0,
      revision: 42,
      app: '@shop/mail',
      ledger: 'postgres' as const,
      waitReplicas: 2,
      tracing: true,
      log: false,
      enabled: false,
    };
    const url = 'postgres://shop@db:5432/shop';
    const database = { url, schema: 'jobs', migrate: true };
    expect(
      jobsSettings({ redis, ...rest, ...durations, leases: 'postgres', keepFor: '7d', postgres: database }),
    ).toEqual({
      redis,
      ...ALARMS,
      ...rest,
      leases: 'postgres',
      postgres: database,
      keepForMs: 7 * 24 * 3_600_000,
      ...{ leaseTtlMs: 300, runLeaseMs: 120_000, drainDeadlineMs: 0, sweepEveryMs: 1_000, minIntervalMs: 60_000 },
      removeAfterMs: 3_600_000,
    });
  });

  it.each<JobsModuleOptions['redis']>([
    { sentinel: { sentinels: [{ host: 'a', port: 26_379 }], name: 'mymaster', password: 'secret' } },
    { cluster: ['redis://a:7000', 'redis://b:7000'] },
  ])('may find Redis by %j', (place) => {
    expect(jobsSettings({ redis: place }).redis).toEqual(place);
  });

  it.each<[object, string]>([
    [{ redis: undefined }, `${WHERE}, got nothing`],
    [{ redis: 'localhost' }, `${WHERE}, got "localhost"`],
    [{ redis: { sentinel: { sentinels: ['a'], password: 'hush' } } }, `${WHERE}, got an object`],
    [{ redis: { cluster: 'redis://:hush@a' } }, `${WHERE}, got an object`],
    [{ prefix: 'a:b' }, 'option "prefix": expected 1 to 100 letters, digits or . _ -, got "a:b"'],
    [{ tenant: '' }, 'option "tenant": expected 1 to 100 letters, digits or . _ -, got ""'],
    [{ pod: 'a b' }, 'option "pod": expected 1 to 64 letters, digits or . _ -, got "a b"'],
    [{ leaseTtl: '299ms' }, `option "leaseTtl": expected a duration from '300ms' to '1h', got "299ms"`],
    [{ runLease: 'long' }, `option "runLease": expected a duration from '300ms' to '24h', got "long"`],
    [{ drainDeadline: -1 }, `option "drainDeadline": expected a duration from '0ms' to '1h', got -1`],
    [{ sweepEvery: '99ms' }, `option "sweepEvery": expected a duration from '100ms' to '1h', got "99ms"`],
    [
      { leases: 7 },
      'option "leases": expected "redis", "postgres", a system and its addresses such as "etcd:http://a:2379", or a function that opens a store, got number',
    ],
    [
      { leases: 'postgres' },
      'option "leases": expected "postgres" only beside ledger "postgres", whose database it is, got "postgres"',
    ],
    [{ ledger: 'mysql' }, 'option "ledger": expected "redis" or "postgres", got "mysql"'],
    [
      { ledger: 'postgres' },
      'option "postgres": expected an address such as postgres://user@localhost:5432/shop, or { url, password, ssl, schema, migrate } or { pool, … } beside ledger "postgres", got nothing',
    ],
    [
      { postgres: 'mysql://u:hush@db/shop' },
      'option "postgres": expected an address such as postgres://user@localhost:5432/shop, or { url, password, ssl, schema, migrate } or { pool, … }, got "mysql://***@db/shop"',
    ],
    [
      { postgres: { url: 'postgres://db/shop', pool: { query: 1, connect: 1 } } },
      'option "postgres": expected either "url" or "pool", got an object',
    ],
    [
      { postgres: { url: 'postgres://db/shop', password: 'hush' } },
      'option "postgres": expected a function that returns the password in "password", got an object',
    ],
    [
      { postgres: { url: 'postgres://db/shop?sslmode=require', ssl: {} } },
      'option "postgres": expected either "ssl" or ssl settings in the address, such as sslmode, got an object',
    ],
    [
      { postgres: { pool: () => null, password: () => 'hush' } },
      'option "postgres": expected no "password" and no "ssl" beside "pool": the pool has them, got an object',
    ],
    [{ keepFor: '1m' }, `option "keepFor": expected a duration from '1h' to '3650d', got "1m"`],
    [{ waitReplicas: -1 }, 'option "waitReplicas": expected a whole number from 0 to 100, got -1'],
    [{ concurrency: 0 }, 'option "concurrency": expected a whole number from 1 to 10000, got 0'],
    [{ concurrency: 'many' }, 'option "concurrency": expected a whole number from 1 to 10000, got "many"'],
    [{ keepRuns: 1.5 }, 'option "keepRuns": expected a whole number from 0 to 1000000, got 1.5'],
    [{ app: 'a b' }, 'option "app": expected a package name, such as "reports" or "@shop/reports", got "a b"'],
    [{ minInterval: '8d' }, `option "minInterval": expected a duration from '0ms' to '7d', got "8d"`],
    [{ revision: 0 }, 'option "revision": expected a whole number from 1 to 9999999999, got 0'],
    [{ removeAfter: '0ms' }, `option "removeAfter": expected a duration from '1s' to '7d', got "0ms"`],
    [{ undiscovered: 'ignore' }, 'option "undiscovered": expected "error" or "warn", got "ignore"'],
    [{ enabled: 'no' }, 'option "enabled": expected true or false, got "no"'],
  ])('are refused with a sentence: %j', (over, sentence) => {
    expect(refusal({ redis, ...over })).toBe(`JobsModule, ${sentence}.`);
  });

  it('are refused for a name that is none', () => {
    expect(refusal({ redis, ttl: 1 })).toBe('JobsModule has no option "ttl"; did you mean "leaseTtl"?');
  });

  it('are refused with one sentence for each mistake', () => {
    expect(refusal({ redis, prefix: ':', concurrency: 0 }).match(/JobsModule, option/g)).toHaveLength(2);
  });

  it('never show a password', () => {
    for (const address of ['http://user:secret@host', 'user:secret@host', 'redis//:secret@host?password=secret']) {
      const message = refusal({ redis: address });
      expect(message).not.toContain('secret');
      expect(message).toContain('***@host');
    }
  });
});

describe('who outside is told', () => {
  const secret = `whsec_${'A'.repeat(32)}`;
  const url = 'https://alerts.example/hooks?token=canary';

  it('is written down once, with the events that need a person by default', () => {
    const { webhooks, alarms } = jobsSettings({ redis, webhooks: [{ url, secret }], alarms: { lookEvery: '1s' } });
    expect(webhooks).toEqual([
      { url, secret, events: ['alarm.raised', 'alarm.cleared', 'run.failed', 'run.uncertain'] },
    ]);
    expect(alarms).toEqual({ allowHosts: [], timeoutMs: 10_000, lookEveryMs: 1_000 });
  });

  it.each([
    ['a secret without its form', { url, secret: 'canary' }, 'webhooks.0.secret'],
    ['a secret that is too short', { url, secret: `whsec_${'A'.repeat(30)}` }, 'webhooks.0.secret'],
    ['another protocol', { url: 'ftp://canary', secret }, 'webhooks.0.url'],
    ['an unknown event', { url, secret, events: ['canary'] }, 'webhooks.0.events.0'],
  ])('is refused for %s, without showing any of it', (_, webhook, option) => {
    const sentence = refusal({ redis, webhooks: [webhook] });
    expect(sentence).toContain(`option "${option}": expected`);
    expect(sentence).not.toContain('canary');
  });
});
