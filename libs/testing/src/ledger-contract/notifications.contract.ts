import { beforeEach, describe, expect, it } from 'vitest';
import { MAX_NOTIFICATIONS, type AttemptOutcome } from '@fencepost/ledger';
import { Stage, type MakeLedgerHarness } from './stage.js';

const ALL = 'succeeded,failed,uncertain';
const QUESTION = { effect: 'charge', item: 'a\nb', unknownReason: 'lost', since: 7 } as const;
const UNCERTAIN = { kind: 'uncertain', error: 'nobody knows', unresolvedEffect: QUESTION } as const;

/** That a run came into a state somebody asked to be notified of: written with the state, whoever brings it about. */
export function notificationsContract(makeHarness: MakeLedgerHarness): void {
  let stage: Stage;
  beforeEach(async () => {
    stage = await Stage.of(makeHarness, { recoverMs: 1, sweepMs: 1 });
  });

  const waiting = () => stage.ledger.notifications(stage.cron, 100);
  const states = async () => (await waiting()).map(({ state }) => state);

  async function ended(n: number, outcome: AttemptOutcome, notify = ALL) {
    const attempt = await stage.begun(await stage.enqueued(n), { notify });
    await stage.ledger.finish(attempt, outcome);
    return attempt;
  }

  async function triggered(): Promise<void> {
    const { runId } = stage.order();
    await stage.ledger.trigger(stage.order({ runId }));
    await stage.ledger.finish(await stage.begun(runId, { notify: ALL }), { kind: 'succeeded' });
  }

  describe('a notification', () => {
    it('waits after each end that somebody asked for, the oldest first, with what there is to say', async () => {
      const [{ runId: good }] = [await ended(1, { kind: 'succeeded' })];
      await stage.harness.advance(2);
      const bad = await stage.begun(await stage.enqueued(2), { notify: 'failed,ping:failed' });
      await stage.harness.advance(2);
      await stage.ledger.finish(bad, { kind: 'failed', error: 'two\nlines' });
      const [first, second, ...rest] = await waiting();
      expect(first).toMatchObject({
        runId: good,
        state: 'succeeded',
        attempt: 1,
        error: null,
        unresolvedEffect: null,
        notify: ALL,
      });
      const told = { runId: bad.runId, state: 'failed', error: 'two\nlines', notify: 'failed,ping:failed' } as const;
      const { finishedAt, attemptedAt } = await stage.run(bad.runId);
      expect(second).toMatchObject({
        ...told,
        attempt: 1,
        at: finishedAt,
        tookMs: (finishedAt ?? 0) - (attemptedAt ?? 0),
      });
      expect(second?.tookMs).toBeGreaterThan(0);
      expect(rest).toEqual([]);
    });

    it('is written once, also when the end is sent again', async () => {
      for (const [n, outcome] of (
        [{ kind: 'succeeded' }, { kind: 'failed', error: 'x' }, UNCERTAIN] as const
      ).entries()) {
        const attempt = await ended(n + 1, outcome);
        await stage.ledger.finish(attempt, outcome);
      }
      expect((await states()).toSorted()).toEqual(['failed', 'succeeded', 'uncertain']);
    });

    it('is not written for an end that nobody asked for, for a retry, or for a run that was cancelled', async () => {
      await ended(1, { kind: 'succeeded' }, 'failed');
      await ended(2, { kind: 'failed', error: 'x' }, '');
      await ended(3, { kind: 'retry', error: 'x', delayMs: 0 });
      await ended(4, { kind: 'cancelled', error: 'x' });
      expect(await waiting()).toEqual([]);
    });

    it('is written for a run whose worker died in its last attempt, by the begin that finds its attempts used up', async () => {
      const dead = await stage.begun(await stage.enqueued(1), { notify: ALL, maxAttempts: 1 });
      await stage.orphan(dead);
      expect(await waiting()).toEqual([]);
      const again = () => stage.ledger.begin(stage.attempt(dead.runId, { maxAttempts: 1 }));
      expect(await again()).toEqual({ verdict: 'terminal', state: 'failed', exhausted: true });
      expect(await again()).toEqual({ verdict: 'terminal', state: 'failed' });
      const error = 'every attempt is used up; the last one never reported';
      expect(await waiting()).toMatchObject([{ runId: dead.runId, state: 'failed', attempt: 1, error }]);
    });

    it('is written for a run that a person gives up, after the one that it is uncertain', async () => {
      const { runId } = await ended(1, UNCERTAIN);
      expect(await waiting()).toMatchObject([
        { state: 'uncertain', error: 'nobody knows', unresolvedEffect: QUESTION },
      ]);
      const answer = await stage.answer(runId, 'give-up');
      await stage.harness.advance(2);
      await stage.ledger.resolve(runId, answer);
      await stage.ledger.resolve(runId, answer);
      expect(await states()).toEqual(['uncertain', 'failed']);
    });

    it('is written each time that the run is uncertain, also after an attempt that asked for nothing', async () => {
      const { runId } = await ended(1, UNCERTAIN);
      await stage.ledger.resolve(runId, await stage.answer(runId, 'not-done'));
      await stage.harness.advance(2);
      await stage.ledger.finish(await stage.begun(runId), UNCERTAIN);
      expect((await waiting()).map(({ state, attempt }) => [state, attempt])).toEqual([
        ['uncertain', 1],
        ['uncertain', 2],
      ]);
    });

    it('waits until it is settled, and the others after it', async () => {
      for (const n of [1, 2, 3]) {
        await ended(n, { kind: 'succeeded' });
        await stage.harness.advance(2);
      }
      const [first, second] = await stage.ledger.notifications(stage.cron, 2);
      expect((await stage.overdue(1)).notifications).toBe(3);
      expect(await stage.ledger.notifications(stage.cron, 0)).toEqual([]);
      await stage.ledger.settleNotifications(stage.cron, []);
      await stage.ledger.settleNotifications(stage.cron, [second?.receipt ?? '']);
      await stage.ledger.settleNotifications(stage.cron, [second?.receipt ?? '']);
      expect((await waiting()).map(({ runId }) => runId)).toEqual([first?.runId, stage.idOf(3)]);
      await stage.ledger.settleNotifications(
        stage.cron,
        (await waiting()).map(({ receipt }) => receipt),
      );
      expect((await stage.overdue(1)).notifications).toBe(0);
    });

    it('is dropped, and counted, when a thousand newer ones wait', { timeout: 60_000 }, async () => {
      for (let n = 0; n < MAX_NOTIFICATIONS; n += 100) await Promise.all(Array.from({ length: 100 }, triggered));
      expect((await stage.ledger.readCron(stage.cron)).droppedNotifications).toBeNull();
      expect(await stage.ledger.notable([stage.cron])).toEqual([]);
      await triggered();
      expect(await stage.ledger.notable([stage.cron])).toEqual([stage.cron]);
      await stage.harness.advance(2);
      const { runId } = await ended(1, { kind: 'failed', error: 'x' });
      const all = await stage.ledger.notifications(stage.cron, MAX_NOTIFICATIONS + 1);
      expect([all.length, all.at(-1)?.runId]).toEqual([MAX_NOTIFICATIONS, runId]);
      const { finishedAt } = await stage.run(runId);
      const { droppedNotifications } = await stage.ledger.readCron(stage.cron);
      expect(droppedNotifications).toEqual({ count: 2, lastAt: finishedAt });
    });
  });
}
