import type { MemoryCron, MemoryRun } from './memory-ledger-record.js';
import { MAX_NOTIFICATIONS, type Notification, type NotifiedState } from './notification.js';
import type { RunState } from './run-state.js';

/** `note-notification.lua`, line for line. */
export function noteNotification(cron: MemoryCron, { record, notify }: MemoryRun, now: number): void {
  const { id: runId, state, attempt, attemptedAt, error, question } = record;
  if (!isNotified(state) || !notify.includes(state)) return;
  cron.notifications.push({
    ...{ receipt: `${runId} ${state} ${attempt}`, runId, state, notify, attempt, at: now, error },
    tookMs: Math.max(0, now - (attemptedAt ?? now)),
    question: question && { ...question },
  });
  if (cron.notifications.length <= MAX_NOTIFICATIONS) return;
  const surplus = cron.notifications.splice(0, cron.notifications.length - MAX_NOTIFICATIONS);
  cron.droppedNotifications = { count: (cron.droppedNotifications?.count ?? 0) + surplus.length, lastAt: now };
}

export function notificationsInMemory({ notifications }: MemoryCron, limit: number): Notification[] {
  return structuredClone(notifications.slice(0, Math.max(0, limit)));
}

export function settleInMemory(cron: MemoryCron, receipts: readonly string[]): void {
  cron.notifications = cron.notifications.filter(({ receipt }) => !receipts.includes(receipt));
}

function isNotified(state: RunState): state is NotifiedState {
  return state === 'succeeded' || state === 'failed' || state === 'uncertain';
}
