import { describe, expect, it } from 'vitest';
import { fence, Stage, type MakeLedgerHarness } from './stage.js';

/** `FORGET_BATCH` of the ledger. */
const FORGET_BATCH = 500;

/** What is shown, how long it is kept, and that what was forgotten can't come back. */
export function retentionContract(makeHarness: MakeLedgerHarness): void {
  async function succeeded(stage: Stage, n: number): Promise<void> {
    await stage.ledger.finish(await stage.begun(await stage.claimed(n)), { kind: 'succeeded' });
  }

  async function shown(stage: Stage): Promise<string[]> {
    return (await stage.ledger.runs(stage.cron, 1_000)).map(({ id }) => id);
  }

  describe('runs and skips', () => {
    it('come newest first, skipped occurrences included, and no more than were asked for', async () => {
      const stage = await Stage.of(makeHarness);
      await succeeded(stage, 1);
      await stage.claimed(2);
      await stage.ledger.claim(await stage.request(3, { overlap: 'skip' }));
      expect(await shown(stage)).toEqual([3, 2, 1].map((n) => stage.idOf(n)));
      expect((await stage.ledger.runs(stage.cron, 2)).map(({ state }) => state)).toEqual(['skipped', 'claimed']);
      expect(await stage.ledger.runs(stage.cron, 0)).toEqual([]);
      expect(await stage.ledger.skips(stage.cron, 0)).toEqual([]);
    });
  });

  describe('countRuns', () => {
    it('counts what was skipped as well, and nothing older than a finished run gets or forgotten', async () => {
      const stage = await Stage.of(makeHarness, { keepMs: 12 * 3_600_000 });
      const counted = () => stage.ledger.countRuns([stage.cron]);
      await stage.claimed(1);
      await succeeded(stage, 80_000);
      expect(await counted()).toEqual([1]);
      await stage.ledger.claim(await stage.request(80_001, { overlap: 'skip' }));
      await stage.claimed(80_002);
      expect(await counted()).toEqual([3]);
      await stage.ledger.forget(stage.cron, 1);
      expect(await counted()).toEqual([1]);
    });
  });

  describe('forget', () => {
    it('keeps the newest, and says how many it forgot', async () => {
      const stage = await Stage.of(makeHarness);
      for (let n = 1; n <= 5; n += 1) await succeeded(stage, n);
      expect(await stage.ledger.forget(stage.cron, 2)).toBe(3);
      expect(await shown(stage)).toEqual([stage.idOf(5), stage.idOf(4)]);
      expect(await stage.ledger.readRun(stage.idOf(1))).toBeNull();
      expect(await stage.ledger.forget(stage.cron, 2)).toBe(0);
    });

    it('keeps what is still going, however old', async () => {
      const stage = await Stage.of(makeHarness);
      await stage.claimed(1);
      await stage.enqueued(2);
      await stage.begun(await stage.claimed(3));
      await stage.orphan(await stage.begun(await stage.claimed(4)));
      await succeeded(stage, 5);
      await stage.claimed(6);
      expect(await stage.ledger.forget(stage.cron, 0)).toBe(1);
      expect(await shown(stage)).toEqual([6, 4, 3, 2, 1].map((n) => stage.idOf(n)));
    });

    it('forgets skipped occurrences as well, and the ranges beyond as many', async () => {
      const stage = await Stage.of(makeHarness);
      await stage.claimed(1);
      for (let n = 2; n <= 4; n += 1) {
        const skips = [{ after: stage.instant(n - 1), through: stage.instant(n) - 1, reason: 'merged' as const }];
        await stage.ledger.claim(await stage.request(n, { overlap: 'skip', skips }));
      }
      expect(await stage.ledger.forget(stage.cron, 2)).toBe(1);
      expect(await shown(stage)).toEqual([4, 3, 1].map((n) => stage.idOf(n)));
      expect(await stage.ledger.skips(stage.cron, 10)).toHaveLength(2);
    });

    it('lets no forgotten instant be claimed again', async () => {
      const stage = await Stage.of(makeHarness);
      await succeeded(stage, 1);
      await stage.ledger.forget(stage.cron, 0);
      const over = { fence: fence(2_000), term: 'the next' };
      expect(await stage.ledger.claim(await stage.request(1, over))).toEqual({
        verdict: 'moved',
        cursor: stage.instant(1),
      });
      expect(await stage.ledger.begin(stage.attempt(stage.idOf(1)))).toEqual({ verdict: 'missing' });
      expect(await stage.ledger.readRun(stage.idOf(1))).toBeNull();
    });

    it('leaves nothing of a forgotten run that a late done could still change', async () => {
      const stage = await Stage.of(makeHarness);
      const attempt = await stage.begun(await stage.claimed(1));
      await stage.beginEffect(attempt, 'mail');
      await stage.ledger.finish(attempt, { kind: 'succeeded' });
      await stage.ledger.forget(stage.cron, 0);
      expect(await stage.finishEffect(attempt, 'mail', '1')).toBe('stale');
    });

    it(`forgets at most ${FORGET_BATCH} at once, oldest first, whatever is still open among them`, async () => {
      const stage = await Stage.of(makeHarness);
      await stage.claimed(1);
      const last = FORGET_BATCH + 3;
      for (let n = 2; n <= last; n += 1) await stage.ledger.claim(await stage.request(n, { overlap: 'skip' }));
      expect(await stage.ledger.forget(stage.cron, 1)).toBe(FORGET_BATCH);
      expect(await shown(stage)).toEqual([last, last - 1, 1].map((n) => stage.idOf(n)));
      expect(await stage.ledger.forget(stage.cron, 1)).toBe(1);
    });
  });

  describe('a run that is over', () => {
    it.each(['succeeded', 'failed', 'skipped', 'used up', 'superseded'])(
      'is gone by itself when its time is up (%s)',
      async (how) => {
        const stage = await Stage.of(makeHarness, { keepMs: 30 });
        const attempt = await stage.begun(await stage.claimed(1));
        if (how === 'used up') {
          await stage.lapse(attempt);
          await stage.ledger.begin(stage.attempt(attempt.runId, { maxAttempts: 1 }));
        } else if (how === 'superseded') {
          for (const n of [2, 3]) await stage.claimed(n, { overlap: 'queue-one' });
        } else if (how === 'skipped') {
          await stage.ledger.claim(await stage.request(2, { overlap: 'skip' }));
        } else {
          await stage.ledger.finish(attempt, how === 'failed' ? { kind: 'failed', error: 'x' } : { kind: 'succeeded' });
        }
        const second = how === 'skipped' || how === 'superseded';
        const over = stage.idOf(second ? 2 : 1);
        await stage.harness.advance(40);
        expect(await stage.ledger.readRun(over)).toBeNull();
        expect(await shown(stage)).toEqual(
          how === 'superseded' ? [stage.idOf(3), stage.idOf(1)] : second ? [stage.idOf(1)] : [],
        );
        expect(await stage.ledger.redeliver({ runId: over, delivery: 1 }, 'a')).toBeNull();
      },
    );

    it('stays until then', async () => {
      const stage = await Stage.of(makeHarness, { keepMs: 60_000 });
      await succeeded(stage, 1);
      await stage.harness.advance(5);
      expect(await shown(stage)).toEqual([stage.idOf(1)]);
    });
  });
}
