import { Pool } from 'pg';
import { migrateLedger } from '@fencepost/ledger/postgres';
import { startPostgres } from '../../scripts/postgres.mjs';
import { freshSchema } from '../support/postgres.js';
import type { Fault } from './fault.js';
import { linkFaults } from './faults/link-faults.js';
import { postgresFaults } from './faults/postgres-faults.js';
import { faultyLink } from './faulty-link.js';

/** The PostgreSQL of a run. */
export interface DatabaseServer {
  readonly url: string;
  readonly isPrivate: boolean;
  stop(): Promise<void>;
}

/** A schema of an episode, seen from outside, and as its pods have it. */
export interface Database {
  readonly pool: Pool;
  readonly schema: string;
  env(pod: string): Readonly<Record<string, string>>;
  readonly faults: readonly Fault[];
  close(): Promise<void>;
}

/** What the oracle's sessions are called, so that they are not ended with those of the pods. */
const ORACLE = 'chaos oracle';

export async function databaseServer(): Promise<DatabaseServer> {
  const isPrivate = !process.env['DATABASE_URL'];
  return { ...(await startPostgres()), isPrivate };
}

export async function openDatabase({ url, isPrivate }: DatabaseServer, pods: readonly string[]): Promise<Database> {
  const schema = freshSchema();
  const pool = new Pool({ connectionString: url, application_name: ORACLE, max: 5 });
  // A session that a crash ends while nobody uses it.
  pool.on('error', () => {});
  await migrateLedger(pool, { schema });
  const port = Number(new URL(url).port);
  const links = new Map(
    isPrivate ? await Promise.all(pods.map(async (pod) => [pod, await faultyLink(port)] as const)) : [],
  );
  return {
    ...{ pool, schema },
    env: (pod) => ({
      ...{ FENCEPOST_LEDGER: 'postgres', FENCEPOST_SCHEMA: schema, FENCEPOST_MIGRATE: 'true' },
      DATABASE_URL: url.replace(`:${port}/`, `:${links.get(pod)?.port ?? port}/`),
    }),
    faults: [
      ...postgresFaults({ url, isPrivate, spared: ORACLE }),
      ...(links.size > 0 ? linkFaults('postgres', () => [...links.values()]) : []),
    ],
    close: async () => {
      await Promise.all([...links.values()].map((link) => link.close()));
      await pool.query(`drop schema "${schema}" cascade`);
      await pool.end();
    },
  };
}
