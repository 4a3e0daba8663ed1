import { randomUUID } from 'node:crypto';
import { Pool } from 'pg';
import { parseFence, systemClock, type Clock } from '@fencepost/lease';
import { sleep } from '@fencepost/lease/internal';
import { closeRedis, connectRedis } from '@fencepost/lease/redis';
import { ManualClock } from '@fencepost/lease/testing';
import type { Ledger } from '@fencepost/ledger';
import { MemoryLedger } from '@fencepost/ledger/memory';
import { PostgresLedger, migrateLedger } from '@fencepost/ledger/postgres';
import { RedisLedger } from '@fencepost/ledger/redis';
import { freshSchema, postgresForTests } from '../support/postgres.js';
import { clearPrefixes, freshPrefix, testRedis } from '../support/redis.js';

/** A ledger with its own idea of time. */
export interface EffectSandbox {
  readonly ledger: Ledger;
  /** Of the workers. */
  readonly clock: Clock;
  readonly runLeaseMs: number;
  /** Lets so much time pass. */
  wait(ms: number): Promise<void>;
  /** Lets time pass until this is settled. */
  until<T>(work: Promise<T>): Promise<T>;
}

export interface EffectStore {
  readonly name: string;
  /** How many cases may go on in it at once. */
  readonly atOnce: number;
  sandbox(): Promise<EffectSandbox>;
  close(): Promise<void>;
}

/** So short that a case is over soon, and so long that a busy machine doesn't lose a lease by itself. */
const REAL_LEASE_MS = 3_000;

const NEVER_MORE = 10_000;

export function memoryStore(): EffectStore {
  return { name: 'memory', atOnce: 1, sandbox: async () => memorySandbox(), close: async () => undefined };
}

function memorySandbox(): EffectSandbox {
  const clock = new ManualClock();
  const until = async <T>(work: Promise<T>): Promise<T> => {
    const look = { over: false };
    const settled = work.finally(() => (look.over = true));
    // Whoever awaits it below sees the rejection; this one only looks whether it has come.
    settled.catch(() => undefined);
    for (let turn = 0; !look.over && turn < NEVER_MORE; turn += 1) await clock.advance(turn < 5 ? 0 : 100);
    if (!look.over) throw new Error('Expected the attempt to end.');
    return settled;
  };
  return { ledger: new MemoryLedger(clock), clock, runLeaseMs: 12_000, wait: (ms) => clock.advance(ms), until };
}

export async function redisStore(): Promise<EffectStore> {
  const redis = await connectRedis({ url: testRedis(), commandTimeoutMs: 10_000, name: 'test' });
  const prefix = freshPrefix();
  const ledger = new RedisLedger({ redis, prefix, tenant: 'default' });
  const close = async () => {
    await clearPrefixes(redis, [prefix]);
    await closeRedis(redis);
  };
  return { name: 'Redis', atOnce: 60, sandbox: async () => realSandbox(ledger), close };
}

export async function postgresStore(): Promise<EffectStore> {
  const server = await postgresForTests();
  const pool = new Pool({ connectionString: server.url, max: 20 });
  const schema = freshSchema();
  await migrateLedger(pool, { schema });
  const ledger = new PostgresLedger({ pool, schema, prefix: 'test', tenant: 'default' });
  const close = async () => {
    await pool.query(`drop schema "${schema}" cascade`);
    await pool.end();
  };
  return { name: 'PostgreSQL', atOnce: 60, sandbox: async () => realSandbox(ledger), close };
}

function realSandbox(ledger: Ledger): EffectSandbox {
  const wait = (ms: number) => sleep(systemClock, ms);
  return { ledger, clock: systemClock, runLeaseMs: REAL_LEASE_MS, wait, until: (work) => work };
}

/** A run that waits for a worker, of a cron of its own. */
export async function waitingRun({ ledger, clock }: EffectSandbox): Promise<string> {
  const scheduledAt = clock.now() - 1_000;
  const occurrence = { scheduledAt, dueAt: scheduledAt, reason: 'schedule', missed: null } as const;
  const reply = await ledger.claim({
    ...{ cron: `charge-${randomUUID()}`, fence: parseFence('1'), term: 'term', holder: 'scheduler/1', generation: 1 },
    ...{ nonce: randomUUID(), cursor: null, skips: [], occurrence, overlap: 'skip' },
  });
  if (reply.verdict !== 'claimed') throw new Error(`Expected the run to be claimed, got ${JSON.stringify(reply)}.`);
  await ledger.confirm([reply.runId]);
  return reply.runId;
}
