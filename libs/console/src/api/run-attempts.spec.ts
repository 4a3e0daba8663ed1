import { describe, expect, it } from 'vitest';
import type { presentJournalEntry } from '@fencepost/operations/presenting';
import { attemptsOf, type AttemptedRun } from './run-attempts.js';

type JournalEntry = ReturnType<typeof presentJournalEntry>;

const WORKER = 'worker-2/aa11bb';

/** `seconds` into the story. */
function at(seconds: number): string {
  return new Date(Date.UTC(2026, 10, 21, 3) + seconds * 1_000).toISOString();
}

/** Something that attempt `attempt` told, `seconds` into the story; its fence is ten times its number. */
function told(event: string, attempt: number, detail: Readonly<Record<string, unknown>> = {}): JournalEntry {
  const { seconds = 10 * attempt, ...more } = detail as { readonly seconds?: number };
  return {
    ...{ id: `${event}-${seconds}`, at: at(seconds), pod: WORKER, role: 'worker', event, level: 'warn' },
    ...{ cron: 'a', runId: 'a@1', detail: { attempt, fence: String(10 * attempt), ...more } },
  };
}

describe('the attempts of a run', () => {
  const LATEST = { fence: '30', worker: 'worker-3/cc22dd', startedAt: at(1), attemptedAt: at(29) };

  /** A run that succeeded with its third attempt, unless the words say otherwise. */
  function third(words: Partial<AttemptedRun> = {}): AttemptedRun {
    return { attempt: 3, state: 'succeeded', finishedAt: at(31), ...LATEST, ...words };
  }

  describe('the attempts of a run', () => {
    it('end when the record says: what a worker has measured leaves out how long its begin took to arrive', () => {
      const [latest] = attemptsOf(third(), [told('attempt.succeeded', 3, { tookMs: 700 })]);
      expect(latest).toMatchObject({ beganAt: at(29), endedAt: at(31), tookMs: 2_000 });
    });

    it('are as many as its record says, the newest first, with what the journal has of each', () => {
      const journal = [
        told('attempt.failed', 2, { err: 'Error: 503', state: 'enqueued' }),
        told('attempt.begun', 2, { seconds: 15, worker: WORKER }),
        told('attempt.failed', 1, { err: 'Error: 502', state: 'enqueued' }),
      ];
      expect(attemptsOf(third(), journal)).toEqual([
        {
          ...{ number: 3, first: 3, beganAt: at(29), endedAt: at(31), tookMs: 2_000, worker: LATEST.worker },
          ...{ fence: '30', end: 'succeeded', why: null, stack: null, refusals: [] },
        },
        {
          ...{ number: 2, first: 2, beganAt: at(15), endedAt: at(20), tookMs: 5_000, worker: WORKER },
          ...{ fence: '20', end: 'failed', why: 'Error: 503', stack: null, refusals: [] },
        },
        {
          ...{ number: 1, first: 1, beganAt: at(1), endedAt: at(10), tookMs: 9_000, worker: WORKER },
          ...{ fence: '10', end: 'failed', why: 'Error: 502', stack: null, refusals: [] },
        },
      ]);
    });

    it('of a run that no worker has begun are none', () => {
      expect(attemptsOf(third({ attempt: 0, startedAt: null, attemptedAt: null, state: 'enqueued' }), [])).toEqual([]);
    });

    it.each([
      ['attempt.succeeded', { tookMs: 1_234 }, { end: 'succeeded', tookMs: 1_234, beganAt: at(18.766) }],
      ['attempt.failed', { err: 'Error: no' }, { end: 'failed', why: 'Error: no' }],
      ['attempt.aborted', { cause: 'RunLeaseLostError: late' }, { end: 'aborted', why: 'RunLeaseLostError: late' }],
      ['attempt.cancelled', { err: 'RunCancelledError' }, { end: 'cancelled', why: 'RunCancelledError' }],
      ['attempt.uncertain', { effect: 'mail', item: null }, { end: 'uncertain', why: 'mail' }],
      ['attempt.refused', { step: 'finish' }, { end: 'refused', why: null }],
    ])('that told %s ended so', (event, detail, shown) => {
      const [, second] = attemptsOf(third(), [told(event, 2, detail)]);
      expect(second).toMatchObject({ ...shown, fence: '20', endedAt: at(20) });
    });

    it('of which one was told to stop, and was refused then, or ended all the same, ended as it did at last', () => {
      const aborted = told('attempt.aborted', 2, { cause: 'late', seconds: 19 });
      const refusal = told('attempt.refused', 2, { step: 'finish' });
      expect(attemptsOf(third(), [refusal, aborted])[1]).toMatchObject({ end: 'refused', refusals: [refusal.id] });
      const failed = told('attempt.failed', 2, { err: 'Error: late' });
      expect(attemptsOf(third(), [failed, aborted])[1]).toMatchObject({ end: 'failed', why: 'Error: late' });
    });

    it.each(['succeeded', 'uncertain'] as const)(
      'of which the latest was told to stop, and is %s by the record, ended so',
      (state) => {
        const aborted = told('attempt.aborted', 3, { cause: 'late' });
        const [latest] = attemptsOf(third({ state, finishedAt: null }), [aborted]);
        expect(latest).toMatchObject({ end: state, why: null, endedAt: null });
      },
    );

    it('has each refusal with the attempt that was refused, and not with the one that stands', () => {
      const [effect, end] = [
        told('attempt.refused', 1, { step: 'effect', seconds: 40 }),
        told('attempt.refused', 1, { step: 'finish', seconds: 41 }),
      ];
      const shown = attemptsOf(third(), [end, effect]);
      expect(shown.map(({ refusals }) => refusals.length)).toEqual([0, 0, 2]);
      expect(shown[2]).toMatchObject({ end: 'refused', endedAt: at(41) });
    });
  });

  describe('what its worker has measured and logged', () => {
    const stack = 'Error: no; next attempt in 200 ms\n    at send (mail.js:7:3)\nCaused by: Error: away';
    const logs = [
      `${at(11)} error [attempt 2 · fence 20] something that the handler says`,
      `${at(12)} error [attempt 2 · fence 20] ${stack}`,
      'a line of another form',
    ];

    it('is its stack with the causes, and when it ended by the log, not by the later journal', () => {
      const [, second, first] = attemptsOf(third(), [told('attempt.failed', 2, { tookMs: 1_500 })], logs);
      expect(second).toMatchObject({ stack, endedAt: at(12), beganAt: at(10.5), tookMs: 1_500, end: 'failed' });
      expect(first?.stack).toBeNull();
    });

    it('is the end by the record of the run, where that has the beginning', () => {
      const [latest] = attemptsOf(third({ state: 'failed' }), [told('attempt.failed', 3, { tookMs: 700 })]);
      expect(latest).toMatchObject({ beganAt: at(29), endedAt: at(29.7), tookMs: 700 });
    });

    it('is no end by itself: a handler may log a stack and go on', () => {
      expect(attemptsOf(third(), [], logs)[1]).toMatchObject({ end: 'unrecorded', stack });
    });
  });

  describe('what nobody knows of an attempt', () => {
    it('is left open, and no end is made up', () => {
      const journal = [told('attempt.begun', 2)];
      const [latest, second, first] = attemptsOf(third({ state: 'orphaned', finishedAt: null }), journal);
      for (const one of [latest, second, first]) {
        expect(one).toMatchObject({ end: 'unrecorded', endedAt: null, tookMs: null, why: null });
      }
      expect(first).toMatchObject({ beganAt: at(1), fence: null, worker: null });
    });

    it.each(['failed', 'cancelled', 'enqueued'] as const)(
      'is not read from a run that is %s: a person may have had it so',
      (state) => {
        expect(attemptsOf(third({ state }), [])[0]).toMatchObject({
          ...{ end: 'unrecorded', endedAt: null, why: null },
          ...{ beganAt: at(29), fence: '30', worker: LATEST.worker },
        });
      },
    );

    it('shows lost journal entries as one row, however many there were', () => {
      const shown = attemptsOf(third({ attempt: 900 }), [told('attempt.failed', 450, { err: 'Error: no' })]);
      expect(shown.map(({ first, number, end }) => [first, number, end])).toEqual([
        [900, 900, 'succeeded'],
        [451, 899, 'lost'],
        [450, 450, 'failed'],
        [2, 449, 'lost'],
        [1, 1, 'unrecorded'],
      ]);
      expect(shown[1]).toMatchObject({ beganAt: null, endedAt: null, tookMs: null, fence: null, worker: null });
    });
  });

  describe('an attempt that goes on', () => {
    it('is the latest of a run that is running', () => {
      const [latest] = attemptsOf(third({ state: 'running', finishedAt: null }), []);
      expect(latest).toMatchObject({ end: 'open', beganAt: at(29), endedAt: null, tookMs: null });
    });

    it('is not the one before, which the journal has outrun the record by', () => {
      const shown = attemptsOf(third({ state: 'running', finishedAt: null }), [told('attempt.begun', 4)]);
      expect(shown.map(({ number, end }) => [number, end]).slice(0, 2)).toEqual([
        [4, 'unrecorded'],
        [3, 'unrecorded'],
      ]);
    });
  });

  it('an end that was written down late, because the store was away, is shown when it was', () => {
    const held = told('attempt.failed', 3, { err: 'Error: away', seconds: 90, heldUpMs: 50_000 });
    expect(attemptsOf(third({ state: 'failed' }), [held])[0]).toMatchObject({ endedAt: at(40), tookMs: 11_000 });
  });
});
