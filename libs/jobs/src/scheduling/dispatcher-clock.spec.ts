import { describe, expect, it } from 'vitest';
import { oneCron, ran } from '../../../../test/support/one-cron.js';
import { CRON } from '../../../../test/support/planning-stage.js';

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

  it.each([0, 900])('is ahead by what the store says, also with a spread, heard %i ms ago', async (lagMs) => {
    const { stage } = await oneCron({ expression: '* * * * *', spreadMs: 50_000 }, { podAheadMs: 1_500 });
    stage.freshness.lagMs = lagMs;
    await stage.serve(5 * 60_000);
    const runs = await stage.memoryLedger.runs(CRON, 10);
    expect(runs.length).toBeGreaterThanOrEqual(4);
    // The ledger's tolerance is as early as it gets.
    for (const { claimedAt, dueAt } of runs) expect(Math.abs(claimedAt - dueAt)).toBeLessThanOrEqual(10);
  });

  it('is trusted again when it has been set right', async () => {
    const { stage } = await oneCron({}, { podAheadMs: 10_000 });
    stage.freshness.lagMs = 900;
    await stage.serve(3_500);
    stage.podAheadMs = 0;
    await stage.serve(20_000);
    const claimed = stage.events.of('occurrence.claimed').length;
    await stage.serve(3_000);
    const latest = stage.events.of('occurrence.claimed').slice(claimed);
    expect(latest.map(({ lateByMs }) => lateByMs)).toEqual([0, 0, 0]);
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
