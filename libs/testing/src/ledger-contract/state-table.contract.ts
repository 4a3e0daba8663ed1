import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { AttemptOutcome, AttemptRef } from '@fencepost/ledger';
import { TRANSITIONS, nextState, type RunEvent, type RunState, type UnresolvedEffect } from '@fencepost/ledger/run';
import { fence, LONG_MS, Stage, type MakeLedgerHarness } from './stage.js';

const EVENTS = [...new Set(TRANSITIONS.map(({ event }) => event))];
const STATES = [...new Set(TRANSITIONS.flatMap(({ from, to }) => [from, to]))];

/** A run in a given state, with the last attempt somebody made. */
interface Subject {
  readonly runId: string;
  readonly attempt: AttemptRef;
}

const QUESTION: UnresolvedEffect = { effect: 'charge', item: null, unknownReason: 'lost', since: 1 };
const UNCERTAIN: AttemptOutcome = { kind: 'uncertain', error: 'nobody knows', unresolvedEffect: QUESTION };

const NOBODY = { fence: fence(1), nonce: 'nobody' };

/** How each state is reached by calls alone. A running run has lost its worker: only then may anything happen to it. */
const REACH: Record<RunState, (stage: Stage, event: RunEvent) => Promise<Subject>> = {
  claimed: async (stage, event) => alone(await waiting(stage, event)),
  enqueued: async (stage, event) => {
    // What waits for its first attempt may be written off; only what had one can have used them up.
    if (event !== 'supersede' && event !== 'expire') {
      return finished(stage, { kind: 'retry', error: 'again', delayMs: 0 });
    }
    const runId = await waiting(stage, event);
    await stage.ledger.confirm([runId]);
    return alone(runId);
  },
  running: async (stage) => {
    const attempt = await stage.begun(await stage.claimed(1));
    await stage.lapse(attempt);
    return { runId: attempt.runId, attempt };
  },
  orphaned: async (stage) => {
    const attempt = await stage.begun(await stage.claimed(1));
    await stage.orphan(attempt);
    return { runId: attempt.runId, attempt };
  },
  uncertain: (stage) => finished(stage, UNCERTAIN),
  succeeded: (stage) => finished(stage, { kind: 'succeeded' }),
  failed: (stage) => finished(stage, { kind: 'failed', error: 'it broke' }),
  cancelled: (stage) => finished(stage, { kind: 'cancelled', error: 'told to' }),
  skipped: async (stage) => {
    await stage.claimed(0);
    expect(await stage.ledger.claim(await stage.request(1, { overlap: 'skip' }))).toMatchObject({ verdict: 'skipped' });
    return alone(stage.idOf(1));
  },
};

/** The call that causes each event, if it may. */
const CAUSE: Record<RunEvent, (stage: Stage, subject: Subject) => Promise<unknown>> = {
  claim: async (stage) => stage.ledger.claim(await stage.request(1)),
  skip: async (stage, { runId }) => {
    // For the instant to be skipped something else has to stand in its way; behind the cursor nothing is decided again.
    if (!(await stage.ledger.readRun(runId))) await stage.claimed(0);
    return stage.ledger.claim(await stage.request(1, { overlap: 'skip' }));
  },
  confirm: (stage, { runId }) => stage.ledger.confirm([runId]),
  begin: (stage, { runId }) => stage.ledger.begin(stage.attempt(runId)),
  exhaust: (stage, { runId }) => stage.ledger.begin(stage.attempt(runId, { maxAttempts: 1 })),
  orphan: async (stage, { runId }) => {
    const run = await stage.ledger.readRun(runId);
    return stage.ledger.redeliver({ runId, delivery: run?.delivery ?? 1 }, randomUUID());
  },
  retry: (stage, { attempt }) => stage.ledger.finish(attempt, { kind: 'retry', error: 'again', delayMs: 0 }),
  succeed: (stage, { attempt }) => stage.ledger.finish(attempt, { kind: 'succeeded' }),
  fail: (stage, { attempt }) => stage.ledger.finish(attempt, { kind: 'failed', error: 'it broke' }),
  'need-operator': (stage, { attempt }) => stage.ledger.finish(attempt, UNCERTAIN),
  answer: async (stage, { runId }) => stage.ledger.resolve(runId, await stage.answer(runId, 'not-done')),
  'give-up': async (stage, { runId }) => stage.ledger.resolve(runId, await stage.answer(runId, 'give-up')),
  supersede: async (stage) => stage.ledger.claim(await stage.request(2, { overlap: 'queue-one' })),
  expire: (stage, { runId }) => stage.ledger.begin(stage.attempt(runId)),
  cancel: (stage, { runId }) => stage.ledger.cancel(runId, { by: 'ada', graceMs: LONG_MS }),
};

/** A run that waits for its first attempt, in a situation where the event may end it. */
async function waiting(stage: Stage, event: RunEvent): Promise<string> {
  if (event === 'supersede') await stage.begun(await stage.claimed(0));
  // The stage lies in the past, so the deadline has passed.
  return stage.claimed(1, event === 'expire' ? { startBy: stage.instant(1) } : {});
}

function alone(runId: string): Subject {
  return { runId, attempt: { runId, ...NOBODY } };
}

async function finished(stage: Stage, outcome: AttemptOutcome): Promise<Subject> {
  const attempt = await stage.begun(await stage.claimed(1));
  await stage.ledger.finish(attempt, outcome);
  return { runId: attempt.runId, attempt };
}

/** A first `begin` never finds its attempts used up, and a later one no deadline: what would end the run begins it. */
function eventFor(from: RunState | null, event: RunEvent): RunEvent {
  const begins = event === 'exhaust' ? ['claimed'] : event === 'expire' ? ['running', 'orphaned'] : [];
  return from !== null && begins.includes(from) ? 'begin' : event;
}

const PAIRS = STATES.flatMap((from) =>
  EVENTS.map((event) => ({ from, event, to: nextState(from, eventFor(from, event)) ?? from })),
);

/** Every state with every event: the table says what happens, and what it doesn't say changes nothing. */
export function stateTableContract(makeHarness: MakeLedgerHarness): void {
  describe('every state and every event', () => {
    it.each(PAIRS)('$from + $event → $to', async ({ from, event, to }) => {
      const stage = await Stage.of(makeHarness);
      const subject = from === null ? alone(stage.idOf(1)) : await REACH[from](stage, event);
      const before = await stage.ledger.readRun(subject.runId);
      expect(before?.state ?? null).toBe(from);

      await CAUSE[event](stage, subject);

      const after = await stage.ledger.readRun(subject.runId);
      expect(after?.state ?? null).toBe(to);
      const allowed = nextState(from, eventFor(from, event)) !== null;
      // A delivery is counted whatever the state; anything else that isn't in the table leaves no trace at all.
      const expected = allowed ? after : before;
      expect({ ...after, delivery: 0 }).toEqual({ ...expected, delivery: 0 });
    });

    it.each(['begin', 'exhaust', 'orphan', 'expire', 'supersede'] as const)(
      'a run whose worker is alive is left alone by "%s"',
      async (event) => {
        const stage = await Stage.of(makeHarness);
        const attempt = await stage.begun(await stage.claimed(1));
        const before = await stage.run(attempt.runId);
        await CAUSE[event](stage, { runId: attempt.runId, attempt });
        expect(await stage.run(attempt.runId)).toEqual(before);
      },
    );
  });
}
