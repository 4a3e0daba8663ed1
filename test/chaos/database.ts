import { Pool } from 'pg';
import { migrateLedger, PostgresAuditTrail, PostgresCatalog, PostgresLedger } from '@fencepost/ledger/postgres';
import { startPostgres } from '../../scripts/postgres.mjs';
import { freshSchema } from '../support/postgres.js';
import type { Fault } from './fault.js';
import { linkFaults } from './faults/link-faults.js';
import { postgresFaults } from './faults/postgres-faults.js';
import { faultyLink } from './faulty-link.js';
import type { RedisClient } from '@fencepost/lease/redis';
import { RedisAuditTrail } from '@fencepost/ledger/audit-trail';
import { RedisCatalog, RedisLedger } from '@fencepost/ledger/redis';
import { Telemetry } from '@fencepost/jobs';
import { BullmqRunQueue, RedisMembership } from '@fencepost/jobs/internal';

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

const TENANT = 'default';
const WAIT_MS = 2_000;

interface StoreSnapshot {
  readonly redis: RedisClient;
  /** For what has to be on replicas before it counts: WAIT holds its connection up. */
  readonly waiting: RedisClient;
  readonly waitReplicas: number;
  readonly prefix: string;
  readonly database: Pick<Database, 'pool' | 'schema'> | undefined;
}

/**
 * As a person's tools see them, and not through what is broken between a pod and its server. What the oracle answers has to
 * outlive a failover as what pods write does: else the ledger forgets an answer, and pods are told another story than before.
 * Definitions are looked for beside the runs, and not where the product says: else a wrong place would not be seen.
 */
export async function storesOn({ redis, waiting, waitReplicas, prefix, database }: StoreSnapshot) {
  const space = { redis, prefix, tenant: TENANT };
  const replication = { redis: waiting, replicas: waitReplicas, timeoutMs: WAIT_MS };
  const inRedis = () => new RedisLedger({ ...space, ...(waitReplicas > 0 ? { replication } : {}) });
  const place = database && { ...database, prefix, tenant: TENANT };
  const ledger = place ? new PostgresLedger(place) : inRedis();
  const catalog = place ? new PostgresCatalog({ ...place, redis }) : new RedisCatalog(space);
  const routed = { ...space, catalog, ledger, telemetry: new Telemetry(), onTrouble: () => {} };
  const queue = await BullmqRunQueue.openRouted(routed);
  const stores = {
    ledger,
    catalog,
    trail: place ? new PostgresAuditTrail(place) : new RedisAuditTrail(space),
    membership: new RedisMembership(space),
    queue,
  };
  return { stores, closeStores: () => queue.close() };
}
