import { Redis } from 'ioredis';
import { afterEach, describe, expect, it } from 'vitest';
import { SetupError, systemClock } from '@fencepost/lease';
import { probeRedis } from '@fencepost/lease/internal/redis-checks';
import { closeRedis, connectRedis } from '@fencepost/lease/redis';
import type { Demands } from '@fencepost/lease/internal/redis-checks';
import { recordedWarnings } from '../support/recorded.js';
import { privateRedis } from '../support/redis.js';
import type { PrivateRedis } from '../support/redis.js';

const cleanUp: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const step of cleanUp.splice(0).toReversed()) await step();
});

const DURABLE = { appendonly: 'yes', appendfsync: 'always' };
const CORRECTNESS: Demands = { criticality: 'correctness' };
const EFFICIENCY: Demands = { criticality: 'efficiency' };

async function server(settings: Record<string, string> = {}): Promise<PrivateRedis> {
  const started = await privateRedis({ 'repl-diskless-sync-delay': '0', ...settings });
  cleanUp.push(() => started.stop());
  return started;
}

function client(url: string): Redis {
  const redis = new Redis(url);
  cleanUp.push(() => closeRedis(redis));
  return redis;
}

async function found(url: string, demands: Demands, clock = systemClock): Promise<string[]> {
  const findings = await probeRedis(client(url), { ...demands, clock });
  return findings.map(({ code, danger }) => `${danger} ${code}`);
}

describe('probeRedis', () => {
  it('finds nothing wrong with a server that keeps what it acknowledges', async () => {
    expect(await found((await server(DURABLE)).url, CORRECTNESS)).toEqual([]);
  });

  it('finds a server that would lose everything with a restart, and minds it where that does damage', async () => {
    const { url } = await server();
    expect(await found(url, EFFICIENCY)).toEqual(['warn NO_PERSISTENCE']);
    expect(await found(url, CORRECTNESS)).toEqual(['refuse NO_PERSISTENCE']);
  });

  it('finds a replica, and the primary that does not wait for it', async () => {
    const primary = await server(DURABLE);
    const replica = await server({ ...DURABLE, replicaof: `127.0.0.1 ${primary.port}` });
    const observer = client(replica.url);
    await expect.poll(() => observer.info('replication'), { timeout: 10_000 }).toContain('master_link_status:up');
    expect(await found(replica.url, EFFICIENCY)).toEqual(['refuse REPLICA']);
    expect(await found(primary.url, CORRECTNESS)).toEqual(['refuse ASYNC_REPLICATION']);
    expect(await found(primary.url, { ...CORRECTNESS, awaitedReplicas: 1 })).toEqual([]);
    await client(primary.url).config('SET', 'min-replicas-to-write', '1');
    expect(await found(primary.url, CORRECTNESS)).toEqual(['refuse ASYNC_REPLICATION']);
    expect(await found(primary.url, EFFICIENCY)).toEqual([]);
  });

  it('finds a clock that is wrong, in either direction', async () => {
    const { url } = await server(DURABLE);
    for (const wrongMs of [-5_000, 5_000]) {
      const clock = { ...systemClock, now: () => Date.now() + wrongMs };
      expect(await found(url, CORRECTNESS, clock)).toEqual(['warn CLOCK_SKEW']);
    }
  });

  it('says what it may not ask, and fails because of none of it', async () => {
    const { url } = await server(DURABLE);
    const admin = client(url);
    await admin.acl('SETUSER', 'app', 'on', '>secret', '~*', '&*', '+@all', '-config', '-time');
    const findings = await probeRedis(client(url.replace('//', '//app:secret@')), CORRECTNESS);
    expect(findings.map(({ code, danger }) => `${danger} ${code}`)).toEqual(['warn UNCHECKED']);
    expect(findings[0]?.message).toContain('it refused CONFIG GET save, CONFIG GET appendfsync, TIME');
  });

  it('rejects when the server can not be asked at all', async () => {
    const { url } = await server();
    await client(url).acl('SETUSER', 'app', 'on', '>secret', '~*', '+@all', '-info');
    const redis = new Redis(url.replace('//', '//app:secret@'), { enableReadyCheck: false });
    cleanUp.push(() => closeRedis(redis));
    await expect(probeRedis(redis, EFFICIENCY)).rejects.toThrow('NOPERM');
  });
});

describe('connectRedis', () => {
  const settings = { commandTimeoutMs: 500, name: 'test' };

  it('warns of what is only dangerous, and connects', async () => {
    const { url } = await server();
    const warnings = recordedWarnings();
    const redis = await connectRedis({ ...settings, url, observe: warnings.observe });
    cleanUp.push(() => closeRedis(redis));
    expect(warnings.codes).toEqual(['NO_PERSISTENCE']);
    expect(warnings.messages[0]).toContain(`the Redis at ${url}, found neither it nor snapshots`);
  });

  it('refuses it where a lost lease does damage, with one sentence for each thing to change', async () => {
    const { url } = await server({ 'maxmemory-policy': 'allkeys-lru' });
    const error: unknown = await connectRedis({ ...settings, url, criticality: 'correctness' }).catch(
      (e: unknown) => e,
    );
    expect(error).toBeInstanceOf(SetupError);
    expect(error).toHaveProperty('message', expect.stringMatching(/noeviction.*append-only file/));
  });
});
