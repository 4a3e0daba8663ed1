import { beforeEach, describe, expect, it } from 'vitest';
import type { ClaimRequest } from '@fencepost/ledger';
import { fence, LONG_MS, Stage, type MakeLedgerHarness } from './stage.js';

const NO_MORE = { paused: null, droppedNotifications: null };

/** Who may claim what: fences, generations, the cursor, the clock. */
export function claimContract(makeHarness: MakeLedgerHarness): void {
  let stage: Stage;
  beforeEach(async () => {
    stage = await Stage.of(makeHarness);
  });

  async function claim(n: number, over: Partial<ClaimRequest> = {}) {
    return stage.ledger.claim(await stage.request(n, over));
  }

  /** What a refused claim must leave as it was; refusals are counted apart. */
  async function everything() {
    const { ledger, cron } = stage;
    const { refusals, ...record } = await ledger.readCron(cron);
    return { record, runs: await ledger.runs(cron, 100), skips: await ledger.skips(cron, 100) };
  }

  describe('claim', () => {
    it('records the run, the fence and the cursor of a due occurrence', async () => {
      const occurrence = stage.occurrence(1, { dueAt: stage.instant(1) + 7, reason: 'catch-up' });
      const missed = { count: 2, from: stage.instant(-2), to: stage.instant(-1) };
      const before = await stage.harness.now();
      const runId = await stage.claimed(1, { occurrence: { ...occurrence, missed }, generation: 3 });

      const record = { fence: fence(1_000), cursor: stage.instant(1), generation: 3, refusals: 0, ...NO_MORE };
      expect(await stage.ledger.readCron(stage.cron)).toEqual(record);
      const run = await stage.run(runId);
      expect(run).toEqual({
        ...{ id: runId, cron: stage.cron, ...occurrence, missed, state: 'claimed', skipped: null, generation: 3 },
        ...{ claimFence: fence(1_000), claimedBy: 'scheduler/1', claimedAt: run.claimedAt, enqueuedAt: null },
        ...{ delivery: 1, attempt: 0, fence: null, worker: null, startedAt: null, attemptedAt: null },
        ...{ notBefore: null, finishedAt: null, error: null, by: null, payload: null, handler: null },
        ...{ waiting: null, cancel: null, priority: null, unresolvedEffect: null, result: null },
      });
      expect(run.claimedAt).toBeGreaterThanOrEqual(before);
      expect(run.claimedAt).toBeLessThanOrEqual(await stage.harness.now());
    });

    it('knows nothing of a cron it has never seen', async () => {
      const nothing = { fence: fence(0), cursor: null, generation: 0, refusals: 0, ...NO_MORE };
      expect(await stage.ledger.readCron(stage.cron)).toEqual(nothing);
      expect(await everything()).toMatchObject({ runs: [], skips: [] });
    });

    it('refuses a lower fence as stale, counts it, and changes nothing', async () => {
      await stage.claimed(1);
      const before = await everything();
      expect(await claim(2, { fence: fence(999) })).toEqual({ verdict: 'stale', fence: fence(1_000) });
      expect(await everything()).toEqual(before);
      expect(await stage.refusals()).toBe(1);
    });

    it('refuses an equal fence of another term: two holders with one fence are one too many', async () => {
      await stage.claimed(1);
      const before = await everything();
      expect(await claim(2, { term: 'another' })).toEqual({ verdict: 'stale', fence: fence(1_000) });
      expect(await everything()).toEqual(before);
      expect(await stage.refusals()).toBe(1);
    });

    it('accepts the same fence of the same term again, and a larger one', async () => {
      await stage.claimed(1);
      await stage.claimed(2);
      await stage.claimed(3, { fence: fence(1_001), term: 'the next' });
      expect((await stage.ledger.readCron(stage.cron)).fence).toBe(1_001);
    });

    it('never goes back to a smaller fence once it has accepted a larger one, also past 2^53 / 2', async () => {
      await stage.claimed(1, { fence: fence(8_787_654_321_123_456) });
      expect(await claim(2, { fence: fence(8_787_654_321_123_455) })).toMatchObject({ verdict: 'stale' });
      await stage.claimed(3, { fence: fence(8_787_654_321_123_457), term: 'the next' });
      expect(await claim(4, { fence: fence(8_787_654_321_123_456) })).toMatchObject({ verdict: 'stale' });
      expect((await stage.ledger.readCron(stage.cron)).fence).toBe(8_787_654_321_123_457);
    });

    it('compares fences as numbers, not as text', async () => {
      await stage.claimed(1, { fence: fence(9) });
      await stage.claimed(2, { fence: fence(10), term: 'the next' });
      expect(await claim(3, { fence: fence(9) })).toEqual({ verdict: 'stale', fence: fence(10) });
    });

    it('refuses an older generation of the definition, and takes over a newer one', async () => {
      await stage.claimed(1, { generation: 9 });
      await stage.claimed(2, { generation: 10 });
      const before = await everything();
      expect(await claim(3, { generation: 9 })).toEqual({ verdict: 'stale-definition', generation: 10 });
      expect(await everything()).toEqual(before);
    });

    it.each([-1, 0])('refuses an instant at or behind the cursor (%i)', async (distance) => {
      await stage.claimed(2);
      const before = await everything();
      expect(await claim(2 + distance)).toEqual({ verdict: 'moved', cursor: stage.instant(2) });
      expect(await everything()).toEqual(before);
    });

    it.each([null, 1, 3])(
      'refuses a plan that started from another cursor (%s) than the one that is there',
      async (n) => {
        await stage.claimed(2);
        const before = await everything();
        const cursor = n === null ? null : stage.instant(n);
        expect(await claim(4, { cursor })).toEqual({ verdict: 'moved', cursor: stage.instant(2) });
        expect(await everything()).toEqual(before);
      },
    );

    it('refuses a plan that started from a cursor where there is none', async () => {
      expect(await claim(2, { cursor: stage.instant(1) })).toEqual({ verdict: 'moved', cursor: null });
    });
  });

  describe('claim by the clock of the store', () => {
    it('refuses an instant that is still to come, and says how long it takes', async () => {
      const dueAt = (await stage.harness.now()) + LONG_MS;
      const reply = await claim(1, { occurrence: stage.occurrence(1, { dueAt }) });
      expect(reply).toEqual({ verdict: 'early', waitMs: expect.any(Number) });
      expect(reply).toHaveProperty(
        'waitMs',
        expect.toSatisfy((ms: number) => ms > LONG_MS / 2 && ms <= LONG_MS),
      );
      expect(await everything()).toMatchObject({ record: { cursor: null }, runs: [] });
    });

    it('lets clocks differ by the tolerance', async () => {
      stage = await Stage.of(makeHarness, { toleranceMs: 2 * LONG_MS });
      const dueAt = (await stage.harness.now()) + LONG_MS;
      expect(await claim(1, { occurrence: stage.occurrence(1, { dueAt }) })).toMatchObject({ verdict: 'claimed' });
    });

    it('refuses to write off instants that are still to come: a pod with a fast clock loses none', async () => {
      const through = (await stage.harness.now()) + LONG_MS;
      const skips = [{ after: stage.instant(0), through, reason: 'misfire' as const }];
      expect(await claim(1, { skips, occurrence: null })).toMatchObject({ verdict: 'early' });
      expect(await everything()).toMatchObject({ record: { cursor: null }, skips: [] });
    });

    it('refuses to write off instants before they are due, and counts a spread in', async () => {
      const skips = [{ after: stage.instant(0), through: stage.instant(1), reason: 'misfire' as const }];
      const spreadMs = (await stage.harness.now()) - stage.instant(1) + LONG_MS;
      expect(await claim(1, { skips, spreadMs, occurrence: null })).toMatchObject({ verdict: 'early' });
      expect(await everything()).toMatchObject({ record: { cursor: null }, skips: [] });
      expect(await claim(1, { skips, spreadMs: 1, occurrence: null })).toEqual({ verdict: 'recorded' });
    });
  });

  describe('claim with instants that do not run', () => {
    const range = (after: number, through: number) => ({
      after: stage.instant(after),
      through: stage.instant(through),
      reason: 'merged' as const,
    });

    it('records them with the occurrence and moves the cursor over both', async () => {
      const skips = [{ ...range(0, 3), reason: 'misfire' as const }, range(3, 5)];
      await stage.claimed(6, { skips });
      expect(await stage.ledger.skips(stage.cron, 10)).toEqual(skips.toReversed());
      expect((await stage.ledger.readCron(stage.cron)).cursor).toBe(stage.instant(6));
    });

    it('records them alone, moves the cursor to their end, and makes no run', async () => {
      expect(await claim(1, { skips: [range(0, 3)], occurrence: null })).toEqual({ verdict: 'recorded' });
      expect(await claim(1, { skips: [range(3, 5)], occurrence: null })).toEqual({ verdict: 'recorded' });
      expect(await stage.ledger.skips(stage.cron, 1)).toEqual([range(3, 5)]);
      expect((await stage.ledger.readCron(stage.cron)).cursor).toBe(stage.instant(5));
      expect(await everything()).toMatchObject({ runs: [] });
      expect(await claim(5)).toMatchObject({ verdict: 'moved' });
    });

    it('records none when it refuses', async () => {
      await stage.claimed(1);
      const over = { skips: [range(1, 3)] };
      expect(await claim(4, { ...over, fence: fence(1) })).toMatchObject({ verdict: 'stale' });
      expect(await claim(4, { ...over, cursor: null })).toMatchObject({ verdict: 'moved' });
      expect(await claim(4, { ...over, generation: 0 })).toMatchObject({ verdict: 'stale-definition' });
      expect(await everything()).toMatchObject({ record: { cursor: stage.instant(1) }, skips: [] });
    });
  });
}
