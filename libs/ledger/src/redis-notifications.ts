import type { Notification, NotifiedState } from './notification.js';
import type { RedisLedgerAccess } from './redis-ledger-access.js';
import { optionalNumber } from './redis-run-record.js';
import type { UnresolvedEffect } from './run.js';

export async function notificationsInRedis(
  access: RedisLedgerAccess,
  cron: string,
  limit: number,
): Promise<Notification[]> {
  if (limit < 1) return [];
  const { notifications } = access.keys(cron);
  return (await access.redis.zrange(notifications, 0, String(limit - 1))).map(readNotification);
}

export async function settleInRedis(
  access: RedisLedgerAccess,
  cron: string,
  receipts: readonly string[],
): Promise<void> {
  if (receipts.length > 0) await access.redis.zrem(access.keys(cron).notifications, ...receipts);
}

/** As `note-notification.lua` writes it; the error comes last because it may have lines of its own. */
function readNotification(receipt: string): Notification {
  const [runId = '', state, at, notify = '', attempt, attemptedAt, question, ...error] = receipt.split('\n');
  return {
    ...{ receipt, runId, state: state as NotifiedState, notify, attempt: Number(attempt), at: Number(at) },
    tookMs: Math.max(0, Number(at) - (optionalNumber(attemptedAt) ?? Number(at))),
    error: error.join('\n') || null,
    question: question ? (JSON.parse(question) as UnresolvedEffect) : null,
  };
}
