import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ensureBuilt } from '../../scripts/build.mjs';
import { postgresForTests, type TestPostgres } from '../support/postgres.js';
import { privateRedis, type PrivateRedis } from '../support/redis.js';

const ROOT = join(import.meta.dirname, '../..');
const START = 'scripts/start.mjs';
const FENCEPOST = 'apps/cli/bin/fencepost.mjs';

let redis: PrivateRedis;
let postgres: TestPostgres;
beforeAll(async () => {
  await ensureBuilt();
  [redis, postgres] = await Promise.all([privateRedis(), postgresForTests()]);
}, 600_000);
afterAll(async () => {
  await redis?.stop();
});

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

function program(args: readonly string[], env: Record<string, string> = {}): Promise<Ended> {
  return new Promise((resolve) => {
    const settings = { cwd: ROOT, env: { ...process.env, NO_COLOR: '1', REDIS_URL: redis.url, ...env } };
    const child = execFile(process.execPath, args, settings, (_failed, out, err) => {
      resolve({ code: child.exitCode, out, err });
    });
  });
}

describe('npm start with the ledger in PostgreSQL', { timeout: 120_000 }, () => {
  it('leaves in a database that was given to it what an audit looks up', async () => {
    const demo = await program([START, '--ledger', 'postgres', '--seconds', '6', '--json'], {
      DATABASE_URL: postgres.url,
    });
    expect(demo.code, demo.err).toBe(0);
    expect(JSON.parse(demo.out)).toMatchObject({ ok: true, missed: 0, duplicates: 0 });
    expect(demo.err).toContain('--postgres "$DATABASE_URL" --schema fencepost_demo');

    const where = ['--redis', redis.url, '--tenant', 'demo', '--postgres', postgres.url, '--schema', 'fencepost_demo'];
    const audit = await program([FENCEPOST, 'audit', '--json', ...where]);
    expect(audit.code, audit.err).toBe(0);
    const report = JSON.parse(audit.out) as { readonly ran: number };
    expect(report).toMatchObject({ ok: true, missed: 0, doubled: 0, unexplained: 0 });
    expect(report.ran).toBeGreaterThan(0);
  });

  it('says nothing of an audit when the database ends with it', async () => {
    const demo = await program([START, '--ledger', 'postgres', '--seconds', '2', '--json'], { DATABASE_URL: '' });
    expect(demo.code, demo.err).toBe(0);
    expect(JSON.parse(demo.out)).toMatchObject({ ok: true, missed: 0, duplicates: 0 });
    expect(demo.err).not.toContain('audit');
  });
});
