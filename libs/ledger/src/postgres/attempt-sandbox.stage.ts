import { randomUUID } from 'node:crypto';
import type { Pool } from 'pg';
import { expect } from 'vitest';
import type { SqlConnection, SqlPool } from '@fencepost/lease/postgres';
import type { AttemptRef, BeginRequest } from '../base/attempting.js';
import type { TransactionRequest } from '../base/transactional-ledger.js';
import { proofOf } from './postgres-attempt-codec.js';
import { PostgresLedgerAccess } from './postgres-ledger-access.js';
import { migrateLedger } from './postgres-migrations.js';
import { PostgresAttemptLog } from './postgres-attempt-log.js';
import { postgresSandbox, type PostgresSandbox } from '../../../../test/support/postgres-sandbox.js';

const SPACE = { prefix: 'test', tenant: 'default' };
const LONG_MS = 60_000;

/** A schema with the ledger's tables, runs in it that wait for a worker, and a table for a user's own rows. */
export interface AttemptSandbox extends PostgresSandbox {
  /** The workers' half of a ledger, on the sandbox's own pool by default. */
  attempts(over?: {
    readonly pool?: SqlPool;
    readonly transactions?: SqlPool;
    readonly patienceMs?: number;
  }): PostgresAttemptLog;
  /** An enqueued run of a cron, with its id. */
  enqueued(over?: { readonly cron?: string; readonly overlap?: string }): Promise<string>;
  begun(runId: string, over?: Partial<BeginRequest>): Promise<AttemptRef>;
  /** The worker goes silent, and its lease has expired. */
  lapse(attempt: AttemptRef): Promise<void>;
  /** Asks what became of a transaction that the server knows by this, as after a lost connection. */
  recall(
    attempt: AttemptRef,
    request: TransactionRequest,
    about: { readonly session: number; readonly since: string },
  ): Promise<unknown>;
  /** One value of the database. */
  value<T>(text: string, ...values: unknown[]): Promise<T>;
  /** Writes one of the user's own rows in an open transaction, and says what it brought. */
  insert(tx: SqlConnection): Promise<string>;
  /** Expects that the row and its record are there, or that neither is. */
  happened(times: 0 | 1): Promise<void>;
}

export async function attemptSandbox(url: string): Promise<AttemptSandbox> {
  const sandbox = postgresSandbox(url);
  const { pool, schema } = sandbox;
  await migrateLedger(pool, { schema });
  await pool.query(`create table "${schema}".orders (note text not null)`);
  const attempts: AttemptSandbox['attempts'] = ({ pool: other = pool, transactions = other, patienceMs } = {}) =>
    new PostgresAttemptLog(new PostgresLedgerAccess({ pool: other, transactions, schema, ...SPACE }, patienceMs));
  const own = attempts();
  const value = async <T>(text: string, ...values: unknown[]) => {
    const { rows } = await pool.query({ text: text.replaceAll(':schema', `"${schema}"`), values, rowMode: 'array' });
    return (rows[0] as unknown[] | undefined)?.[0] as T;
  };
  return {
    ...sandbox,
    attempts,
    enqueued: (over) => enqueue(pool, schema, over),
    begun: async (runId, over) => {
      const request = { runId, nonce: randomUUID(), worker: 'worker/1', ttlMs: LONG_MS, maxAttempts: 3, ...over };
      const reply = await own.begin(request);
      if (reply.verdict !== 'begun') throw new Error(`Expected ${runId} to begin, got ${JSON.stringify(reply)}.`);
      return { runId, fence: reply.fence, nonce: request.nonce };
    },
    lapse: async ({ runId }) => {
      await pool.query(`update "${schema}".run set lease_until = 1, open_until = 1, watch_at = 1 where id = $1`, [
        runId,
      ]);
    },
    recall: (attempt, { name, items = null }, { session, since }) => {
      const access = new PostgresLedgerAccess({ pool, schema, ...SPACE });
      return access.call('recall_transaction', [access.space, proofOf(attempt), name, items, session, since]);
    },
    value,
    insert: async (tx) => {
      await tx.query({ text: `insert into "${schema}".orders values ($1)`, values: ['a row'] });
      return '{"id":1}';
    },
    happened: async (times) => {
      expect(await value('select count(*)::int from :schema.orders')).toBe(times);
      expect(await value(`select count(*)::int from :schema.effect where state = 'done'`)).toBe(times);
    },
  };
}

async function enqueue(
  pool: Pool,
  schema: string,
  { cron = 'nightly-report', overlap = 'allow' } = {},
): Promise<string> {
  const runId = `${cron}@manual-${randomUUID()}`;
  const space = `${SPACE.prefix}:${SPACE.tenant}`;
  await pool.query(`insert into "${schema}".cron (space, name) values ($1, $2) on conflict do nothing`, [space, cron]);
  await pool.query(
    `insert into "${schema}".run (space, id, cron, state, scheduled_at, due_at, reason, generation, claim_fence, claim_nonce,
       claimed_at, delivery, overlap, open_until, watch_at)
     values ($1, $2, $3, 'enqueued', 1, 1, 'manual', 1, 0, '', 1, 1, $4, 9223372036854775807, 1)`,
    [space, runId, cron, overlap],
  );
  return runId;
}
