import type { INestApplication } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { Pool } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { JobsModule, LEDGER, type Role } from '@fencepost/jobs';
import { SetupError } from '@fencepost/lease';
import { PodModule } from '@fencepost/pod';
import type { PostgresLedger } from '@fencepost/ledger/postgres';
import { migrateLedger } from '@fencepost/ledger/postgres';
import { LEDGER_VERSION } from '../../libs/ledger/src/postgres/postgres-ledger-version.js';
import { Stage } from '../../libs/testing/src/ledger-contract/stage.js';
import { HealthController } from '../../libs/pod/src/health.controller.js';
import { faultyLink, type FaultyLink } from '../chaos/faulty-link.js';
import { freshSchema, postgresForTests, type TestPostgres } from '../support/postgres.js';
import { freshPrefix, testRedis } from '../support/redis.js';
import { rejectionOf } from '../support/rejection-of.js';

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
  await server.stop();
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
const pod = (role: Role) =>
  start(PodModule.forRoot(role, { host: '127.0.0.1', port: 0, logLevel: 'silent', pod: 'p', jobs: jobs() }));

const newer = () =>
  pool.query(`insert into "${schema}".ledger_version (version, functions) values (${LEDGER_VERSION + 1}, 'newer')`);
const asBefore = () => pool.query(`delete from "${schema}".ledger_version where version > ${LEDGER_VERSION}`);

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
      /found version \d+: a newer release .+ Update @fencepost\/jobs here too/,
    );
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
    const health = (await pod(role)).get(HealthController, { strict: false });
    expect(await health.ready()).toMatchObject({ info: { redis: { status: 'up' }, postgres: { status: 'up' } } });
    link.hold();
    const since = performance.now();
    await expect
      .poll(() => rejectionOf(health.ready()), { timeout: WITHIN_MS })
      .toMatchObject({
        status: 503,
        response: { error: { postgres: { status: 'down', message: 'PostgreSQL does not answer in time' } } },
      });
    expect(performance.now() - since).toBeLessThan(WITHIN_MS);
    expect(health.live()).toEqual({ status: 'ok' });
    link.heal('deliver');
    await expect.poll(() => health.ready().catch(String), { timeout: WITHIN_MS }).toMatchObject({ status: 'ok' });
  });

  it('ends when the tables are of a newer release, and returns when they fit again', async () => {
    const health = (await pod(role)).get(HealthController, { strict: false });
    await newer();
    await expect
      .poll(() => rejectionOf(health.ready()), { timeout: WITHIN_MS })
      .toMatchObject({
        status: 503,
        response: { error: { postgres: { status: 'down', message: expect.stringContaining('a newer release') } } },
      });
    await asBefore();
    await expect.poll(() => health.ready().catch(String), { timeout: WITHIN_MS }).toMatchObject({ status: 'ok' });
  });
});

describe('a running process whose tables were migrated by a newer release', () => {
  it('claims, triggers and begins nothing, ends what runs, and goes on when the tables fit again', async () => {
    const ledger: PostgresLedger = (await ownApp('worker')).get(LEDGER, { strict: false });
    const at = async () => Number((await pool.query(`select "${schema}".now_ms() as now`)).rows[0].now);
    const harness = { ledger, cron: 'report', now: at, advance: async () => {}, clockGoesBack: async () => {} };
    const stage = await Stage.of(async () => harness);
    const [first, second] = [await stage.claimed(1), await stage.claimed(2)];
    const begun = await stage.begun(first);
    await newer();
    await rejectionOf(ledger.checkSchema());
    const refusals = await Promise.all([
      rejectionOf(stage.request(3).then((request) => ledger.claim(request))),
      rejectionOf(ledger.trigger(stage.order())),
      rejectionOf(stage.begun(second)),
    ]);
    for (const refusal of refusals) expect(refusal).toBeInstanceOf(SetupError);
    expect(await ledger.finish(begun, { kind: 'succeeded' })).toBe('succeeded');
    await asBefore();
    await ledger.checkSchema();
    await stage.claimed(3);
  });
});
