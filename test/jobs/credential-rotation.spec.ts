import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { closeRedis } from '@fencepost/lease/redis';
import { Redis } from 'ioredis';
import { Pool } from 'pg';
import { expect, it, onTestFinished } from 'vitest';
import { ensureProgram } from '../../scripts/debian.mjs';
import { startPrivatePostgres } from '../../scripts/postgres.mjs';
import { freePort } from '../../scripts/redis.mjs';
import { privateRedis, testRedis } from '../support/redis.js';
import { serverFolder } from '../support/server-process.js';
import { redisSpaces } from './redis-space.js';
import { expectEachInstantOnce, moreRuns, startPods } from './rotation.stage.js';

const spaces = redisSpaces();
const PODS = 3;

/** A certificate for this machine, which is an authority of its own. */
async function certificate(): Promise<{ key: string; file: string; ca: string }> {
  const { command, env } = await ensureProgram('openssl');
  const folder = serverFolder('test-tls-');
  const [key, file] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')];
  const made = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', key, '-out', file];
  const named = ['-subj', '/CN=test', '-addext', 'subjectAltName=IP:127.0.0.1', '-days', '2'];
  execFileSync(command, ['req', '-x509', ...made, ...named], { env, stdio: 'pipe' });
  return { key, file, ca: readFileSync(file, 'utf8') };
}

/** Answers on a plain port too, for whoever looks on. */
async function tlsRedis() {
  const [{ key, file, ca }, port] = [await certificate(), await freePort()];
  const tls = { 'tls-port': `${port}`, 'tls-cert-file': file, 'tls-key-file': key, 'tls-ca-cert-file': file };
  const server = await privateRedis({ 'maxmemory-policy': 'noeviction', 'tls-auth-clients': 'no', ...tls });
  const admin = new Redis(server.url);
  onTestFinished(async () => {
    await closeRedis(admin);
    await server.stop();
  });
  return { admin, url: `rediss://127.0.0.1:${port}`, ca };
}

it(
  'loses no run and repeats none while the password and then the user of a Redis with TLS change',
  { timeout: 60_000 },
  async () => {
    const { admin, url, ca } = await tlsRedis();
    const acl = (...rules: string[]) => admin.call('ACL', ...rules);
    const ALL = ['on', '~*', '&*', '+@all'];
    let current = { username: 'one', password: 'p1' };
    await acl('SETUSER', 'one', '>p1', ...ALL);
    const pods = await startPods(PODS, {
      ...spaces.fresh(),
      redis: { url, tls: { ca }, credentials: async () => current },
    });
    await moreRuns(2);

    current = { username: 'one', password: 'p2' };
    await acl('SETUSER', 'one', 'resetpass', '>p2');
    await admin.client('KILL', 'USER', 'one');
    await moreRuns(2);

    await acl('SETUSER', 'two', '>p3', ...ALL);
    current = { username: 'two', password: 'p3' };
    // Ends the connections of the user too.
    await acl('DELUSER', 'one');
    await moreRuns(3);
    expect(await expectEachInstantOnce(pods)).toBe(0);
  },
);

it('refuses a Redis whose certificate nobody vouches for, and says so', { timeout: 60_000 }, async () => {
  const { url } = await tlsRedis();
  await expect(startPods(PODS, { ...spaces.fresh(), redis: url })).rejects.toThrow(/self-signed certificate/);
});

it('loses no run and repeats none while the password of PostgreSQL changes', { timeout: 60_000 }, async () => {
  const server = await startPrivatePostgres();
  const admin = new Pool({ connectionString: server.url, max: 1 });
  onTestFinished(async () => {
    await admin.end();
    await server.stop();
  });
  const { rows } = await admin.query('SHOW hba_file');
  writeFileSync(rows[0].hba_file, 'host all app 127.0.0.1/32 scram-sha-256\nhost all all 127.0.0.1/32 trust\n');
  await admin.query('SELECT pg_reload_conf()');
  await admin.query("CREATE ROLE app LOGIN PASSWORD 'p1'");
  await admin.query('GRANT CREATE ON DATABASE postgres TO app');
  let current = 'p1';
  const asked: string[] = [];
  const password = async () => asked[asked.push(current) - 1] ?? '';
  const url = server.url.replace('postgres@', 'app@');
  const pods = await startPods(PODS, {
    ...{ ...spaces.fresh(), redis: testRedis(), ledger: 'postgres' },
    postgres: { url, password, migrate: true },
  });
  await moreRuns(2);

  current = 'p2';
  await admin.query("ALTER ROLE app PASSWORD 'p2'");
  await admin.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'app'");
  await moreRuns(3);
  expect(await expectEachInstantOnce(pods)).toBe(0);
  expect(new Set(asked)).toEqual(new Set(['p1', 'p2']));
});
