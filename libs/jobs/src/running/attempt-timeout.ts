import type { Clock } from '@fencepost/lease';
import type { CancelTimer } from '@fencepost/lease/internal';
import { AttemptTimeoutError } from './errors.js';

const MAX_GRACE_MS = 5_000;

const NOTHING: CancelTimer = () => {};

interface AttemptTimeout {
  readonly runId: string;
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly attempt: TimedAttempt;
}

export interface TimedAttempt {
  /** Tells the handler to stop. */
  abort(error: AttemptTimeoutError): void;
  /** The handler has not stopped within the grace. */
  abandon(): void;
}

/** Waits for the handler until its timeout, and then for a grace in which it can clean up. */
export async function withinTimeout(work: Promise<unknown>, timeout: AttemptTimeout): Promise<unknown> {
  const { runId, timeoutMs, clock, attempt } = timeout;
  let cancel = NOTHING;
  const left = new Promise<never>((_, reject) => {
    cancel = clock.after(timeoutMs, () => {
      const error = new AttemptTimeoutError(runId, timeoutMs);
      attempt.abort(error);
      cancel = clock.after(Math.min(timeoutMs / 4, MAX_GRACE_MS), () => {
        attempt.abandon();
        reject(error);
      });
    });
  });
  try {
    return await Promise.race([work, left]);
  } finally {
    cancel();
  }
}
