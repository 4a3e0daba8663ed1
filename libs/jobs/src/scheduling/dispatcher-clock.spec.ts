import { describe, expect, it } from 'vitest';
import { oneCron, ran, CRON } from '../../../../test/support/planning-stage.js';

describe('a pod whose clock is wrong', () => {
  const seconds = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => from + n);

  it.each([50, 1_500, 300_000, 3_600_000])('by %i ms ahead fires at the instants of the store', async (podAheadMs) => {
    const { stage } = await oneCron({}, { podAheadMs });
    await stage.serve(5_500);
    expect(await ran(stage)).toEqual(seconds(1, 6));
    expect(await stage.memoryLedger.skips(CRON, 10)).toEqual([]);
    const late = (await stage.memoryLedger.runs(CRON, 10)).map(({ claimedAt, dueAt }) => claimedAt - dueAt);
    expect(Math.max(...late)).toBeLessThanOrEqual(0);
  });

  it.each([-50, -1_500, -300_000])('by %i ms behind fires when it hears how late it is', async (podAheadMs) => {
    const { stage } = await oneCron({}, { podAheadMs });
    await stage.serve(5_500);
    expect(await ran(stage)).toEqual(seconds(1, 6));
    expect(await stage.memoryLedger.skips(CRON, 10)).toEqual([]);
  });

  it('does not flood a ledger whose own clock has gone back', async () => {
    const { stage } = await oneCron();
    await stage.serve(1_000);
    stage.freshness.heardAt = stage.clock.now() + 10_000;
    const asked = stage.ledger.calls.length;
    stage.podAheadMs = 10_000;
    await stage.serve(1_000);
    expect(stage.ledger.calls.length - asked).toBeLessThanOrEqual(25);
  });
});
