import { loadScripts, redisKeys, type KeySpace } from '@fencepost/lease/internal/redis';
import type { AttemptSteps } from '../base/ledger.js';
import { POSITION_MS, type LedgerTiming } from '../base/ledger-timing.js';
import type { RunState } from '../base/run-state.js';
import { decodeBegin } from './redis-attempt-codec.js';
import { TEXTS } from './lua/texts.js';

const SCRIPTS = loadScripts(TEXTS, ['attempt-steps', 'begin-attempts', 'finish-attempts']);

const LUA = SCRIPTS['attempt-steps'].calling({
  begin_attempts: SCRIPTS['begin-attempts'],
  finish_attempts: SCRIPTS['finish-attempts'],
}).text;

/** Any name: what is before it is what the keys of all crons begin with. */
const ANY = 'x';

interface StepsOptions {
  readonly space: KeySpace;
  /** Where the fences of attempts are counted. */
  readonly fences: string;
  readonly timing: LedgerTiming;
}

/** What a queue on the same server needs for ends and begins in scripts of its own, see `attempt-steps.lua`. */
export function attemptSteps({ space, fences, timing: { keepMs, sweepMs } }: StepsOptions): AttemptSteps {
  const key = redisKeys(space)(ANY, 'cron');
  const head = key.slice(0, key.lastIndexOf(`${ANY}}`));
  return {
    lua: LUA,
    fences,
    about: [head, keepMs, POSITION_MS, sweepMs],
    plansKey: (digest) => redisKeys(space)('plans', `begin-${digest}`),
    decodeBegin: (reply, request) => decodeBegin(sound(reply, request.runId), request),
    decodeFinish(reply, runId) {
      const word = sound(reply, runId);
      return word === 'STALE' ? null : (word as RunState);
    },
  };
}

type Row = string | readonly unknown[];

/** @returns an error for a record of a run that is broken: nothing was done */
export function soundOrError(reply: Row, runId: string | undefined): Row | Error {
  return reply[0] === 'BROKEN' ? new Error(`Expected a sound record of ${runId}, got ${String(reply[1])}`) : reply;
}

function sound(reply: unknown, runId: string): Row {
  const row = soundOrError(reply as Row, runId);
  if (row instanceof Error) throw row;
  return row;
}
