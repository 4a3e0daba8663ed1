import type { SqlConnection, SqlPool } from '@fencepost/lease/postgres';
import { isTransactional, type TransactionalLedger } from '@fencepost/ledger';
import type { EffectSession } from './effect-session.js';
import { EffectPayloadError, TransactionUnavailableError } from './errors.js';
import { encodeResult } from './effect-result.js';
import { EffectOptionParser, readPayloadHash, isAnother } from './effect-options.js';

export interface TransactionOptions {
  /** The effect name under which it is recorded, default `'transaction'`; unique in a run. */
  readonly name?: string;
  /** As in the options of an effect: a different payload under the same name is refused. */
  readonly payload?: unknown;
  /** A pool of the ledger's database; default the ledger's own. */
  readonly pool?: SqlPool;
}

export type TransactionWork<T> = (tx: SqlConnection) => Promise<T> | T;

interface Settings {
  readonly name: string;
  readonly payloadHash: string | null;
  readonly pool?: SqlPool;
}

/** Executes one transaction of an attempt, or returns the result that an earlier attempt committed. */
export async function runTransaction<T>(
  session: EffectSession,
  work: TransactionWork<T>,
  options: TransactionOptions = {},
): Promise<T> {
  const name: unknown = options?.name ?? 'transaction';
  session.reserve(name);
  const settings = readSettings(name, options);
  const { ledger } = session.deps;
  if (!isTransactional(ledger)) throw new TransactionUnavailableError(name);
  session.ready();
  session.emit('effect.beginning', name);
  const committing = () => commit(session, { ledger, settings, work });
  return JSON.parse(await (session.traced(name)?.(committing) ?? committing())) as T;
}

interface Commit {
  readonly ledger: TransactionalLedger;
  readonly settings: Settings;
  readonly work: TransactionWork<unknown>;
}

async function commit(session: EffectSession, { ledger, settings, work }: Commit): Promise<string> {
  const { name } = settings;
  let acted = false;
  const reply = await ledger.transaction(session.deps.attempt, settings, async (tx) => {
    session.deps.telemetry.emit('effect.begun', { ...session.about(name), unknown: false });
    const json = encodeResult(name, await work(tx), 'rolled back');
    acted = true;
    session.emit('effect.acted', name);
    return json;
  });
  if (reply.verdict === 'stale') throw session.stale(name);
  if (isAnother(reply.payloadHash, settings.payloadHash)) throw new EffectPayloadError(name);
  session.emit(acted ? 'effect.finished' : 'effect.known', name);
  return reply.result;
}

function readSettings(name: string, given: unknown): Settings {
  const parser = new EffectOptionParser(`the transaction "${name}"`, { given, known: ['name', 'payload', 'pool'] });
  const pool = parser.read<SqlPool | null>('pool', 'a pool of pg', { fits: isPool, otherwise: null });
  return { name, payloadHash: readPayloadHash(parser), ...(pool ? { pool } : {}) };
}

export function isPool(value: unknown): value is SqlPool {
  return typeof value === 'object' && value !== null && typeof Reflect.get(value, 'connect') === 'function';
}
