import { randomUUID } from 'node:crypto';
import { startPostgres } from '../../scripts/postgres.mjs';

/** A PostgreSQL for the tests of one file, which keep to a schema of their own each. */
export interface TestPostgres {
  /** What `pg` takes as `connectionString`. */
  readonly url: string;
  stop(): Promise<void>;
}

/** A schema no other test uses; whoever creates it need not drop it, unless the server is a shared one. */
export function freshSchema(): string {
  return `test_${randomUUID().slice(0, 13)}`;
}

/** To be called in `beforeAll`, so that nothing is started for who doesn't need it. */
export function postgresForTests(): Promise<TestPostgres> {
  return startPostgres();
}
