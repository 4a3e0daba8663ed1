import { randomUUID } from 'node:crypto';
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
      await stage.forget(1);
      expect(await counted()).toEqual([1]);
    });
  });

  describe('forgetAll', () => {
    it('keeps the newest, and says how many it forgot', async () => {
      const stage = await Stage.of(makeHarness);
      for (let n = 1; n <= 5; n += 1) await succeeded(stage, n);
      expect(await stage.forget(2)).toBe(3);
      expect(await shown(stage)).toEqual([stage.idOf(5), stage.idOf(4)]);
      expect(await stage.ledger.readRun(stage.idOf(1))).toBeNull();
      expect(await stage.forget(2)).toBe(0);
    });

    it('keeps what is still going, however old', async () => {
      const stage = await Stage.of(makeHarness);
      await stage.claimed(1);
      await stage.enqueued(2);
      await stage.begun(await stage.claimed(3));
      await stage.orphan(await stage.begun(await stage.claimed(4)));
      await succeeded(stage, 5);
      await stage.claimed(6);
      expect(await stage.forget(0)).toBe(1);
      expect(await shown(stage)).toEqual([6, 4, 3, 2, 1].map((n) => stage.idOf(n)));
    });

    it('forgets skipped occurrences as well, and the ranges beyond as many', async () => {
      const stage = await Stage.of(makeHarness);
      await stage.claimed(1);
      for (let n = 2; n <= 4; n += 1) {
        const skips = [{ after: stage.instant(n - 1), through: stage.instant(n) - 1, reason: 'merged' as const }];
        await stage.ledger.claim(await stage.request(n, { overlap: 'skip', skips }));
      }
      expect(await stage.forget(2)).toBe(1);
      expect(await shown(stage)).toEqual([4, 3, 1].map((n) => stage.idOf(n)));
      expect(await stage.ledger.skips(stage.cron, 10)).toHaveLength(2);
    });

    it('lets no forgotten instant be claimed again', async () => {
      const stage = await Stage.of(makeHarness);
      await succeeded(stage, 1);
      await stage.forget(0);
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
      await stage.forget(0);
      expect(await stage.finishEffect(attempt, 'mail', '1')).toBe('stale');
    });

    it(`forgets at most ${FORGET_BATCH} at once, oldest first, whatever is still open among them`, async () => {
      const stage = await Stage.of(makeHarness);
      await stage.claimed(1);
      const last = FORGET_BATCH + 3;
      for (let n = 2; n <= last; n += 1) await stage.ledger.claim(await stage.request(n, { overlap: 'skip' }));
      expect(await stage.forget(1)).toBe(FORGET_BATCH);
      expect(await shown(stage)).toEqual([last, last - 1, 1].map((n) => stage.idOf(n)));
      expect(await stage.forget(1)).toBe(1);
    });
  });

  describe('forgetAll of many crons', () => {
    /** Of each of these crons the first `count` instants, in as few calls as there are instants. */
    async function skipped(stage: Stage, crons: readonly string[], count: number): Promise<void> {
      const request = await stage.request(1, { overlap: 'skip' });
      for (let n = 1; n <= count; n += 1) {
        const over = { cursor: n === 1 ? null : stage.instant(n - 1), occurrence: stage.occurrence(n) };
        const claims = crons.map((cron) => ({ ...request, ...over, cron, nonce: randomUUID() }));
        const replies = await stage.ledger.claimAll(claims);
        const verdict = n === 1 ? 'claimed' : 'skipped';
        expect(replies).toMatchObject(crons.map(() => ({ status: 'fulfilled', value: { verdict } })));
      }
    }

    async function forgotten(stage: Stage, crons: readonly string[], keep: number): Promise<unknown[]> {
      const outcomes = await stage.ledger.forgetAll(crons, keep);
      return outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : outcome.reason));
    }

    const left = async (stage: Stage, crons: readonly string[]) =>
      (await stage.ledger.newestRuns(crons, 1_000)).map((runs) => runs.map(({ scheduledAt }) => scheduledAt));

    it('answers in the order given, also for a cron with nothing to forget and one that it has never seen', async () => {
      const stage = await Stage.of(makeHarness);
      await skipped(stage, ['b', 'a', 'c'], 4);
      await skipped(stage, ['few'], 2);
      expect(await forgotten(stage, ['c', 'few', 'a', 'unknown', 'b'], 2)).toEqual([1, 0, 1, 0, 1]);
      const [first, third, fourth] = [1, 3, 4].map((n) => stage.instant(n));
      expect(await left(stage, ['a', 'b', 'c'])).toEqual(['a', 'b', 'c'].map(() => [fourth, third, first]));
      expect(await left(stage, ['few', 'unknown'])).toEqual([[stage.instant(2), first], []]);
      expect(await forgotten(stage, [], 2)).toEqual([]);
    });

    it('keeps the open and uncertain runs of each', async () => {
      const stage = await Stage.of(makeHarness);
      const { runId } = await stage.uncertain(1);
      await stage.claimed(2);
      await succeeded(stage, 3);
      await skipped(stage, ['other'], 3);
      expect(await forgotten(stage, ['other', stage.cron], 0)).toEqual([2, 1]);
      expect(await shown(stage)).toEqual([stage.idOf(2), runId]);
      expect(await left(stage, ['other'])).toEqual([[stage.instant(1)]]);
    });

    it('says of each up to where its runs and ranges were forgotten', async () => {
      const stage = await Stage.of(makeHarness);
      await succeeded(stage, 5);
      await stage.claimed(9, { skips: [stage.range(5, 7), stage.range(7, 8)] });
      await skipped(stage, ['other'], 3);
      expect(await forgotten(stage, [stage.cron, 'other', 'unknown'], 0)).toEqual([1, 2, 0]);
      const latest = (cron: string) => stage.ledger.account(cron, stage.instant(0), stage.instant(20));
      expect(await latest(stage.cron)).toMatchObject({ forgotten: stage.instant(8), skips: [] });
      expect(await latest('other')).toMatchObject({ forgotten: stage.instant(3) });
      expect(await latest('unknown')).toMatchObject({ forgotten: null });
    });

    it('forgets as many of each as of one alone, more in all than a store forgets in one step', async () => {
      const stage = await Stage.of(makeHarness);
      const crons = Array.from({ length: 11 }, (_, n) => `cron-${n}`);
      await skipped(stage, crons, 100);
      expect(await forgotten(stage, crons, 1)).toEqual(crons.map(() => 98));
      expect(await left(stage, crons)).toEqual(crons.map(() => [stage.instant(100), stage.instant(1)]));
      expect(await forgotten(stage, crons, 1)).toEqual(crons.map(() => 0));
    });

    it(`forgets at most ${FORGET_BATCH} of each, and the rest when it is asked again`, async () => {
      const stage = await Stage.of(makeHarness);
      const [large, small] = ['large', 'small'];
      await skipped(stage, [small], 3);
      await skipped(stage, [large], FORGET_BATCH + 3);
      expect(await forgotten(stage, [large, small], 0)).toEqual([FORGET_BATCH, 2]);
      expect(await forgotten(stage, [large, small], 0)).toEqual([2, 0]);
      expect(await left(stage, [large, small])).toEqual([[stage.instant(1)], [stage.instant(1)]]);
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
