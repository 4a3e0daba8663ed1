import { SetupError } from '@fencepost/lease';
import { describe, expect, it } from 'vitest';
import { render } from '../../../scripts/charts/kubectl.mjs';
import { environmentOf, podsOf } from '../../../scripts/charts/rules.mjs';
import { refusalOf } from '../../../test/support/refusals.js';
import { podEnvironment } from './environment.js';

const refusal = (variables: Record<string, string>) => refusalOf(SetupError, () => podEnvironment(variables));

describe("a pod's environment", () => {
  it('listens on loopback and looks for Redis on this machine unless told otherwise', () => {
    expect(podEnvironment({ PATH: '/bin' })).toEqual({
      host: '127.0.0.1',
      port: undefined,
      logLevel: 'info',
      pod: undefined,
      jobs: { redis: 'redis://localhost:6379' },
    });
  });

  it('is taken as it is given, numbers as numbers', () => {
    const variables = {
      ...{ REDIS_URL: 'redis://r:1', HOST: '0.0.0.0', PORT: '0', LOG_LEVEL: 'debug', POD_NAME: 'pod-7' },
      ...{ FENCEPOST_PREFIX: 'p', FENCEPOST_TENANT: 't', FENCEPOST_LEASE_TTL: '3s', FENCEPOST_RUN_LEASE: '5s' },
      ...{ FENCEPOST_DRAIN_DEADLINE: '7s', FENCEPOST_SWEEP_EVERY: '9s', FENCEPOST_CONCURRENCY: '4' },
      ...{ FENCEPOST_KEEP_RUNS: '50', FENCEPOST_REMOVE_AFTER: '10m' },
      ...{ FENCEPOST_MIN_INTERVAL: '1m' },
    };
    expect(podEnvironment(variables)).toEqual({
      ...{ host: '0.0.0.0', port: 0, logLevel: 'debug', pod: 'pod-7' },
      jobs: {
        ...{ redis: 'redis://r:1', prefix: 'p', tenant: 't', pod: 'pod-7', leaseTtl: '3s', runLease: '5s' },
        ...{ drainDeadline: '7s', sweepEvery: '9s', concurrency: 4, keepRuns: 50, removeAfter: '10m' },
        ...{ minInterval: '1m' },
      },
    });
  });

  it('leaves app and revision to the jobs module, and starts with a variable of a former release', () => {
    const variables = { FENCEPOST_APP: 'shop', FENCEPOST_REVISION: '42', FENCEPOST_BUILD_SEQ: '1763607600000' };
    expect(podEnvironment(variables).jobs).toEqual({ redis: 'redis://localhost:6379' });
  });

  it('names the database of a ledger in PostgreSQL, and of no other', () => {
    const database = { DATABASE_URL: 'postgres://db/shop', FENCEPOST_SCHEMA: 'jobs', FENCEPOST_MIGRATE: 'true' };
    expect(podEnvironment({ ...database, FENCEPOST_LEDGER: 'postgres', FENCEPOST_KEEP_FOR: '7d' }).jobs).toEqual({
      redis: 'redis://localhost:6379',
      ledger: 'postgres',
      postgres: { url: 'postgres://db/shop', schema: 'jobs', migrate: true },
      keepFor: '7d',
    });
    expect(podEnvironment({ ...database, FENCEPOST_WAIT_REPLICAS: '2' }).jobs).toEqual({
      redis: 'redis://localhost:6379',
      waitReplicas: 2,
    });
  });

  it('says who outside is told, and whom of the own network', () => {
    const webhooks = [{ url: 'https://alerts.example', secret: 's' }];
    const variables = {
      FENCEPOST_WEBHOOKS: JSON.stringify(webhooks),
      FENCEPOST_ALLOW_HOSTS: 'alerts.internal, 10.0.0.7',
    };
    const { jobs } = podEnvironment(variables);
    expect(jobs).toMatchObject({ webhooks, alarms: { allowHosts: ['alerts.internal', '10.0.0.7'] } });
    expect(podEnvironment({ FENCEPOST_WEBHOOKS: 'no json' }).jobs.webhooks).toBe('no json');
  });

  it('finds Redis by its sentinels or in a cluster', () => {
    const variables = { REDIS_URL: '', REDIS_SENTINELS: 'a:1,b:2', REDIS_SENTINEL_NAME: 'mymaster' };
    const sentinels = [
      { host: 'a', port: 1 },
      { host: 'b', port: 2 },
    ];
    expect(podEnvironment(variables).jobs.redis).toEqual({ sentinel: { sentinels, name: 'mymaster' } });
    expect(podEnvironment({ REDIS_CLUSTER: 'redis://a,redis://b' }).jobs.redis).toEqual({
      cluster: ['redis://a', 'redis://b'],
    });
  });

  it('says where Redis is once', () => {
    expect(refusal({ REDIS_URL: 'redis://:secret@a', REDIS_SENTINELS: 'a:1' })).toBe(
      'Expected one of REDIS_URL, REDIS_SENTINELS, REDIS_CLUSTER, got REDIS_URL and REDIS_SENTINELS. Leave out all but one.',
    );
  });

  it.each([
    ['PORT', '65536', 'expected a port from 0 to 65535, 0 for any free one'],
    ['PORT', '-1', 'expected a port from 0 to 65535, 0 for any free one'],
    ['PORT', 'http', 'expected a port from 0 to 65535, 0 for any free one'],
    ['FENCEPOST_MIGRATE', 'yes', 'expected true or false'],
    ['LOG_LEVEL', 'loud', 'expected one of trace, debug, info, warn, error, fatal, silent'],
  ])('refuses %s=%s with a sentence', (name, value, expected) => {
    expect(refusal({ [name]: value })).toBe(`The environment, option "${name}": ${expected}, got "${value}".`);
  });

  it('leaves what is no number to the option it is for, which says what it expects', () => {
    expect(podEnvironment({ FENCEPOST_CONCURRENCY: 'many' }).jobs.concurrency).toBe('many');
  });

  it.each(['overlays/production', 'overlays/trial'])('takes what the manifests of %s set', (overlay) => {
    const pods = podsOf(render(overlay));
    for (const pod of pods) {
      const given = environmentOf(pod) as Record<string, string>;
      const secrets = { REDIS_URL: 'redis://redis:6379', POD_NAME: 'fencepost-1' };
      expect(podEnvironment({ ...given, ...secrets })).toMatchObject({ host: '0.0.0.0', port: 3000 });
    }
    expect(pods).toHaveLength(2);
  });

  it('never shows a password, whatever else is wrong', () => {
    const message = refusal({ REDIS_URL: 'redis://user:secret@host:6379', PORT: 'x', LOG_LEVEL: 'y' });
    expect(message).not.toContain('secret');
    expect(message.match(/The environment, option/g)).toHaveLength(2);
  });
});
