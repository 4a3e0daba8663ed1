import { randomUUID } from 'node:crypto';
import { startPostgres } from '../../scripts/postgres.mjs';

/** A PostgreSQL for tests that keep to a schema of their own each. */
export interface TestPostgres {
  /** What `pg` takes as `connectionString`. */
  readonly url: string;
}

let ofProcess: Promise<TestPostgres> | undefined;

/** A schema no other test uses; whoever creates it drops it when the file ends, or leaves it for the server to end with. */
export function freshSchema(): string {
  return `test_${randomUUID().slice(0, 13)}`;
}

/**
 * One for all files of a process, which ends with it: making a database takes longer than most files need it. To be called in
 * `beforeAll`, so that nothing is started for who doesn't need it.
 */
export function postgresForTests(): Promise<TestPostgres> {
  return (ofProcess ??= startPostgres());
}
