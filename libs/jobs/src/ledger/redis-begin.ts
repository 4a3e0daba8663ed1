import { FenceExhaustedError, parseFence } from '@fencepost/lease';
import type { BeginReply } from './ledger.js';
import { readBegunRun, type BegunRun } from './redis-run-record.js';
import type { RunState } from './run-state.js';

type Values = BegunRun['known'];
type BegunReply = readonly ['BEGUN', string, string, Values, Values?];

/**
 * What `begin-attempt` answered. The record comes with the reply: read by a second command it could be from before, when
 * the script has to be sent again to a server that no longer knows it.
 * @throws {FenceExhaustedError}
 */
export function beginReply(reply: readonly unknown[], cron: string): BeginReply {
  const [word, detail] = reply;
  switch (word) {
    case 'BEGUN': {
      const [, fence, attempt, known, begun = []] = reply as BegunReply;
      const run = readBegunRun({ fence, attempt, known, begun });
      if (run === null) break;
      return { verdict: 'begun', fence: parseFence(fence), attempt: Number(attempt), run };
    }
    case 'BUSY':
      return { verdict: 'busy', waitMs: Number(detail) };
    case 'NOT_DUE':
      return { verdict: 'not-due', waitMs: Number(detail) };
    case 'TERMINAL':
      return { verdict: 'terminal', state: detail as RunState };
    case 'MISSING':
      return { verdict: 'missing' };
    case 'FENCE_EXHAUSTED':
      throw new FenceExhaustedError(cron);
  }
  throw new Error(`Expected a reply of begin-attempt, got ${JSON.stringify(reply)}.`);
}
