import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { useDeployment } from '../support/deployment.js';
import type { Pod } from '../support/pod.js';
import { privateRedis, type PrivateRedis } from '../support/redis.js';

const deployment = useDeployment();
const MAX_LINES = 10;

/** One line that says what is wrong; and then the process is gone. */
async function expectRefusal(pod: Pod, words: readonly string[]): Promise<void> {
  expect(await pod.exited).toEqual({ code: 1, signal: null });
  expect(pod.stderr).toMatch(/^The (test worker|scheduler) does not start\. [^\n]+\.\n$/);
  for (const word of words) expect(pod.stderr).toContain(word);
  expect(pod.lines.length).toBeLessThanOrEqual(MAX_LINES);
}

describe('a worker refuses to start, in one sentence,', () => {
  it.each([
    ['bad-zone', ['BadZone.underWater', '"timeZone"', '"Europe/Atlantis"']],
    ['name-twice', ['NameTwice.other', 'NameTwice.one', '"name"', '"same"']],
  ])('with the cron %s', async (crons, words) => {
    await expectRefusal(deployment.pods.spawnWorker(crons, { env: { CRONS: crons } }), words);
    expect(await deployment.stores.catalog.read()).toMatchObject({ entries: [] });
  });

  it.each([
    [{ FENCEPOST_LEASE_TTL: 'soon' }, ['leaseTtl', '"soon"']],
    [{ LOG_LEVEL: 'loud' }, ['LOG_LEVEL', '"loud"']],
    [{ REDIS_URL: 'http://localhost' }, ['redis://', 'http://localhost']],
  ])('with the environment %o', async (env, words) => {
    await expectRefusal(deployment.pods.spawnWorker('worker', { env: { CRONS: 'tick', ...env } }), words);
  });
});

describe.each(['worker', 'scheduler'])('a %s refuses to start, in one sentence,', (kind) => {
  const servers: PrivateRedis[] = [];
  const [wantsPassword, evicts] = [{ requirepass: 'right' }, { 'maxmemory-policy': 'allkeys-lru' }];

  function spawn(env: Record<string, string>): Pod {
    const { spawnWorker, spawnScheduler } = deployment.pods;
    return kind === 'worker' ? spawnWorker(kind, { env: { CRONS: 'tick', ...env } }) : spawnScheduler(kind, { env });
  }

  beforeAll(async () => {
    servers.push(...(await Promise.all([privateRedis(wantsPassword), privateRedis(evicts)])));
  });

  afterAll(async () => {
    await Promise.all(servers.splice(0).map((server) => server.stop()));
  });

  it('when no Redis listens', async () => {
    const pod = spawn({ REDIS_URL: 'redis://127.0.0.1:1' });
    await expectRefusal(pod, ['redis://127.0.0.1:1', 'ECONNREFUSED']);
  });

  it('when Redis refuses the password, which it does not repeat', async () => {
    const pod = spawn({ REDIS_URL: `redis://:hunter2@127.0.0.1:${servers[0]!.port}` });
    await expectRefusal(pod, ['password', `127.0.0.1:${servers[0]!.port}`]);
    expect(pod.stderr).not.toContain('hunter2');
  });

  it('when Redis may evict', async () => {
    await expectRefusal(spawn({ REDIS_URL: servers[1]!.url }), ['maxmemory-policy', 'allkeys-lru', 'noeviction']);
  });

  it('when no PostgreSQL listens where its ledger should be', async () => {
    const pod = spawn({ FENCEPOST_LEDGER: 'postgres', DATABASE_URL: 'postgres://ada:hunter2@127.0.0.1:1/shop' });
    await expectRefusal(pod, ['Expected a PostgreSQL at postgres://***@127.0.0.1:1/shop', 'ECONNREFUSED']);
    expect(pod.stderr).not.toContain('hunter2');
  });

  it('when its port is taken', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const port = String((other.address() as AddressInfo).port);
    await expectRefusal(spawn({ PORT: port }), [`Port ${port} of 127.0.0.1`]);
    // Refused before it has begun anything: a worker would have declared its cron, and perhaps taken a run.
    expect(await deployment.stores.catalog.read()).toMatchObject({ entries: [] });
    other.close();
  });
});
