import type { CronKeys, RedisLedgerAccess } from './redis-ledger-access.js';

/** Crons asked about with one `EXISTS`; a part with few enough is looked at as a whole. */
const MAX_ASKED_FOR = 1_000;
const FEW = 8;

/** Keys that most crons don't have. */
type RareKey = keyof Pick<CronKeys, 'open' | 'failed' | 'uncertain' | 'notifications' | 'noted'>;

/** Of these crons the ones that have any of these keys, and perhaps others near them. */
export async function cronsWith(
  access: RedisLedgerAccess,
  names: readonly RareKey[],
  crons: readonly string[],
): Promise<string[]> {
  const batches = access.inBatches(crons, MAX_ASKED_FOR);
  return (await access.inTurn(batches, (batch) => narrowed(access, names, batch))).flat();
}

/** Where some crons have one, they are in one half or in both. */
async function narrowed(
  access: RedisLedgerAccess,
  names: readonly RareKey[],
  crons: readonly string[],
): Promise<string[]> {
  const asked = crons.flatMap((cron) => {
    const keys = access.keys(cron);
    return names.map((name) => keys[name]);
  });
  const existing = await access.redis.exists(...asked);
  if (existing === 0) return [];
  if (crons.length <= FEW || 2 * existing >= crons.length / FEW) return [...crons];
  const half = Math.ceil(crons.length / 2);
  const first = await narrowed(access, names, crons.slice(0, half));
  return [...first, ...(await narrowed(access, names, crons.slice(half)))];
}
