import type { INestApplication } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { Pool } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { JobsModule, LEDGER, type Role } from '@fencepost/jobs';
import { SetupError } from '@fencepost/lease';
import { PodModule } from '@fencepost/pod';
import type { PostgresLedger } from '@fencepost/ledger/postgres';
import { migrateLedger } from '@fencepost/ledger/postgres';
import { claim, claimOf } from '../jobs/audit-stores.js';
import { faultyLink, type FaultyLink } from '../chaos/faulty-link.js';
import { freshSchema, postgresForTests, type TestPostgres } from '../support/postgres.js';
import { freshPrefix, testRedis } from '../support/redis.js';
import { rejectionOf } from '../support/refusals.js';

const WITHIN_MS = 10_000;

let server: TestPostgres;
let pool: Pool;
let link: FaultyLink;
let schema: string;
const apps: INestApplication[] = [];

beforeAll(async () => {
  server = await postgresForTests();
  pool = new Pool({ connectionString: server.url });
  link = await faultyLink(Number(new URL(server.url).port));
});
afterAll(async () => {
  await link.close();
  await pool.end();
});
beforeEach(async () => {
  schema = freshSchema();
  await migrateLedger(pool, { schema });
});
afterEach(async () => {
  link.heal('deliver');
  await Promise.all(apps.splice(0).map((app) => app.close()));
  await pool.query(`drop schema if exists "${schema}" cascade`);
});

/** The server, with only this test's link to it in between. */
function linked(): string {
  const url = new URL(server.url);
  url.port = String(link.port);
  return url.href;
}

const jobs = (url = linked()) => ({
  redis: testRedis(),
  prefix: freshPrefix(),
  ledger: 'postgres' as const,
  postgres: { url, schema },
});

async function start(module: ReturnType<typeof JobsModule.forRoot>): Promise<INestApplication> {
  const built = await Test.createTestingModule({ imports: [module] }).compile();
  const app = built.createNestApplication();
  apps.push(app);
  return app.init();
}

const ownApp = (...roles: Role[]) => start(JobsModule.forRoot({ roles, ...jobs() }));

/** What a pod of the role answers at the path. */
async function pod(role: Role) {
  const options = { host: '127.0.0.1', port: 0, logLevel: 'silent', pod: 'p', jobs: jobs() };
  const app = await start(PodModule.forRoot(role, options));
  await app.listen(0, '127.0.0.1');
  const url = await app.getUrl();
  return async (path: string) => {
    const response = await fetch(`${url}/health/${path}`);
    return { status: response.status, body: await response.json() };
  };
}

const down = (message: unknown) => ({ status: 503, body: { error: { postgres: { status: 'down', message } } } });

/** As a release leaves the tables that no longer admits this build. */
const newer = () => outgrown('max(version) + 1');
/** As one leaves them that has only added to them. */
const expanded = () => outgrown('max(minimum)');
const outgrown = (minimum: string) =>
  pool.query(
    `insert into "${schema}".ledger_version (version, minimum, functions)
       select max(version) + 1, ${minimum}, 'newer' from "${schema}".ledger_version`,
  );
const asBefore = () => pool.query(`delete from "${schema}".ledger_version where functions = 'newer'`);

describe.each<[string, Role[]]>([
  ['a scheduler', ['scheduler']],
  ['a worker', ['worker']],
  ["a user's app in both roles", ['scheduler', 'worker']],
])('%s refuses to start in one sentence', (_, roles) => {
  it('when the tables are missing, and says what makes them', async () => {
    await pool.query(`drop schema "${schema}" cascade`);
    const refused = await rejectionOf(ownApp(...roles));
    expect(refused).toBeInstanceOf(SetupError);
    expect((refused as SetupError).message).toMatch(
      /found none\. Run "fencepost migrate" once before, or set "migrate: true"/,
    );
  });

  it('when a newer release has migrated the tables', async () => {
    await newer();
    const refused = await rejectionOf(ownApp(...roles));
    expect(refused).toBeInstanceOf(SetupError);
    expect((refused as SetupError).message).toMatch(
      /found version \d+, which admits them from \d+ on: a newer release .+ Update @fencepost\/jobs here too/,
    );
  });

  it('but not when that one has only expanded them', async () => {
    await expanded();
    const app = await ownApp(...roles);
    const ledger: PostgresLedger = app.get(LEDGER, { strict: false });
    expect(await claim(ledger, claimOf({ cron: 'report', scheduledAt: 1_000 }))).toMatchObject({ verdict: 'claimed' });
  });

  it('when nothing listens where PostgreSQL should be, without the password', async () => {
    const options = { ...jobs('postgres://ada:hunter2@127.0.0.1:1/shop'), roles };
    const refused = await rejectionOf(start(JobsModule.forRoot(options)));
    expect(refused).toBeInstanceOf(SetupError);
    expect((refused as SetupError).message).toBe(
      'Expected a PostgreSQL at postgres://***@127.0.0.1:1/shop, but nothing is listening there (ECONNREFUSED). ' +
        'Start PostgreSQL, or correct the address.',
    );
  });
});

describe.each<Role>(['scheduler', 'worker'])('the readiness of a %s', (role) => {
  it('asks Redis and PostgreSQL, and lives while PostgreSQL says nothing', async () => {
    const ask = await pod(role);
    expect(await ask('ready')).toMatchObject({
      body: { info: { redis: { status: 'up' }, postgres: { status: 'up' } } },
    });
    link.hold();
    const since = performance.now();
    await expect
      .poll(() => ask('ready'), { timeout: WITHIN_MS })
      .toMatchObject(down('PostgreSQL does not answer in time'));
    expect(performance.now() - since).toBeLessThan(WITHIN_MS);
    expect(await ask('live')).toEqual({ status: 200, body: { status: 'ok' } });
    link.heal('deliver');
    await expect.poll(() => ask('ready'), { timeout: WITHIN_MS }).toMatchObject({ status: 200 });
  });

  it('ends when the tables are of a newer release, and returns when they fit again', async () => {
    const ask = await pod(role);
    await newer();
    await expect
      .poll(() => ask('ready'), { timeout: WITHIN_MS })
      .toMatchObject(down(expect.stringContaining('a newer release')));
    await asBefore();
    await expect.poll(() => ask('ready'), { timeout: WITHIN_MS }).toMatchObject({ status: 200 });
  });
});

describe('a running process whose tables were migrated by a newer release', () => {
  it('claims, triggers and begins nothing, ends what runs, and goes on when the tables fit again', async () => {
    const ledger: PostgresLedger = (await ownApp('worker')).get(LEDGER, { strict: false });
    const claimed = (scheduledAt: number) => claim(ledger, claimOf({ cron: 'report', scheduledAt }));
    const order = { runId: 'report@manual-1', nonce: 'n', scheduledAt: null, reason: 'manual', by: 'ada' } as const;
    const nothing = { why: null, payload: null, handler: null, missed: null };
    const begin = (runId: string) =>
      ledger.begin({ runId, nonce: 'n', worker: 'worker/1', ttlMs: 60_000, maxAttempts: 3 });
    expect([await claimed(1_000), await claimed(2_000)]).toMatchObject([
      { verdict: 'claimed' },
      { verdict: 'claimed' },
    ]);
    const begun = await begin('report@1000');
    if (begun.verdict !== 'begun') throw new Error(`Expected the run to begin, got ${begun.verdict}.`);
    await newer();
    await rejectionOf(ledger.checkSchema());
    const refusals = await Promise.all([
      rejectionOf(claimed(3_000)),
      rejectionOf(ledger.trigger({ ...order, ...nothing, generation: 1, overlap: 'allow' })),
      rejectionOf(begin('report@2000')),
    ]);
    for (const refusal of refusals) expect(refusal).toBeInstanceOf(SetupError);
    const attempt = { runId: 'report@1000', nonce: 'n', fence: begun.fence };
    expect(await ledger.finish(attempt, { kind: 'succeeded' })).toBe('succeeded');
    await asBefore();
    await ledger.checkSchema();
    expect(await claimed(3_000)).toMatchObject({ verdict: 'claimed' });
  });
});
