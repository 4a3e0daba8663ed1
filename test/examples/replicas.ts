import type { INestApplicationContext, Type } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { Pool } from 'pg';
import { afterAll, afterEach, beforeAll, vi } from 'vitest';
import { freshSchema, postgresForTests } from '../support/postgres.js';
import { freshPrefix, testRedis } from '../support/redis.js';

/**
 * Where the examples find their stores: a module reads that when it is imported, so it is to be imported in a test. The
 * database is left for its server to end with.
 */
export function useExampleStores(tables: string): { readonly database: Pool } {
  const used = {} as { database: Pool };
  beforeAll(async () => {
    const { url } = await postgresForTests();
    const name = freshSchema();
    const server = new Pool({ connectionString: url, max: 1 });
    await server.query(`CREATE DATABASE "${name}"`);
    await server.end();
    const connectionString = Object.assign(new URL(url), { pathname: `/${name}` }).href;
    used.database = new Pool({ connectionString });
    await used.database.query(tables);
    vi.stubEnv('REDIS_URL', testRedis());
    vi.stubEnv('DATABASE_URL', connectionString);
    vi.stubEnv('PREFIX', freshPrefix());
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
    await used.database?.end();
  });
  return used;
}

type Override = readonly [token: Type, value: object];

/** Applications of one module, closed after the test. */
export function useReplicas(): (module: Type, ...overrides: Override[]) => Promise<INestApplicationContext> {
  const open: INestApplicationContext[] = [];
  afterEach(async () => {
    await Promise.all(open.splice(0).map((app) => app.close()));
  });
  return async (module, ...overrides) => {
    const building = Test.createTestingModule({ imports: [module] });
    for (const [token, value] of overrides) building.overrideProvider(token).useValue(value);
    const app = await building.compile();
    open.push(app);
    return app.init();
  };
}

/** A promise and what fulfils it. */
export function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open!: () => void;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}
