import { parseFence } from '@fencepost/lease';
import type { Delivery, Notification } from '../base/ledger.js';
import type { Run, UnresolvedEffect } from '../base/run.js';

/** A run as `describe_run` shows it: fences as digits, because JSON has no integers of 64 bits. */
export type RunRow = Omit<Run, 'claimFence' | 'fence' | 'unresolvedEffect'> & {
  readonly claimFence: string;
  readonly fence: string | null;
  readonly question: UnresolvedEffect | null;
};

export function decodeRun({ question, ...row }: RunRow): Run {
  const fence = row.fence === null ? null : parseFence(row.fence);
  return { ...row, claimFence: parseFence(row.claimFence), fence, unresolvedEffect: question };
}

/** A notification as `list_notifications` shows it. */
export type NotificationRow = Omit<Notification, 'unresolvedEffect'> & { readonly question: UnresolvedEffect | null };

export function decodeNotification({ question, ...row }: NotificationRow): Notification {
  return { ...row, unresolvedEffect: question };
}

/** A delivery as the functions show it. */
export type DeliveryRow = Omit<Delivery, 'priority'> & { readonly priority: number | null };

/** None is absent there, and `null` in JSON. */
export function decodeDelivery<T extends DeliveryRow>({ priority, ...rest }: T): Omit<T, 'priority'> & Delivery {
  return priority === null ? { ...rest } : { ...rest, priority };
}
