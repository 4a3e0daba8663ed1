import type { CancelReply } from './ledger.js';
import type { RunState } from './run-state.js';

/** What `cancel-run` answered. */
export function cancelReply(reply: readonly string[]): CancelReply {
  const [word, detail] = reply;
  switch (word) {
    case 'CANCELLED':
      return { verdict: 'cancelled' };
    case 'CANCELLING':
      return { verdict: 'cancelling', until: Number(detail) };
    case 'TERMINAL':
      return { verdict: 'terminal', state: detail as RunState };
    case 'MISSING':
      return { verdict: 'missing' };
    default:
      throw new Error(`Expected a reply of cancel-run, got ${JSON.stringify(reply)}.`);
  }
}
