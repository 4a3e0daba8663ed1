import { describe, expect, it } from 'vitest';
import { systemClock } from '@fencepost/lease';
import type { CronDefinition } from '@fencepost/ledger/catalog';
import { audit } from '@fencepost/operations/audit';
import { CRON, PlanningStage } from '../support/planning-stage.js';

const EVERY_TWO_SECONDS = { expression: '*/2 * * * * *' };

/** A cron every two seconds; one instant ran, then no pod is there for so long, and one comes back. */
async function after(outageMs: number, over: Partial<CronDefinition> = {}) {
  const stage = new PlanningStage({ runForMs: 10 });
  const entry = stage.declare({ ...EVERY_TWO_SECONDS, graceMs: 60_000, ...over });
  await stage.take();
  await stage.serve(2_000);
  await stage.outage(outageMs);
  await stage.serve(0);
  const { memoryLedger: ledger, clock, start } = stage;
  const account = await ledger.account(CRON, start, clock.now() + 1);
  const report = await audit(
    {
      ...{ ledger, clock: systemClock, membership: { lastHeard: async () => clock.now() } },
      catalog: { read: async () => ({ version: 1, readAt: clock.now(), entries: [entry] }) },
    },
    { to: clock.now() },
  );
  const at = (second: number) => start + second * 1_000;
  return { account, report, at };
}

describe('a cron every two seconds without pods', () => {
  it('for 14 s has no misfire: one run stands for all seven instants, which are within their grace', async () => {
    const { account, report, at } = await after(14_000);
    expect(account.skips).toEqual([{ after: at(2), through: at(14), reason: 'merged' }]);
    const [, caughtUp] = account.runs;
    expect(caughtUp).toMatchObject({ scheduledAt: at(16), reason: 'catch-up' });
    expect(caughtUp?.missed).toEqual({ count: 6, from: at(4), to: at(14) });
    expect(report).toMatchObject({ missed: 0, unexplained: 0, skipped: { misfire: 0 } });
  });

  it('for longer than its grace leaves out exactly the instants that are late', async () => {
    const { account, at } = await after(14_000, { graceMs: 6_000 });
    expect(account.skips).toEqual([
      { after: at(2), through: at(8), reason: 'misfire' },
      { after: at(8), through: at(14), reason: 'merged' },
    ]);
    expect(account.runs[1]?.missed).toEqual({ count: 3, from: at(10), to: at(14) });
  });

  it.each([
    ['with a catch-up window shorter than its grace', { catchUpWindowMs: 0 }],
    ['under "skip"', { misfire: 'skip' }],
    ['under "fire-all" with fewer runs than instants', { misfire: 'fire-all', maxCatchUp: 2 }],
  ] as const)('has no misfire either %s', async (_name, over) => {
    const { account, report } = await after(14_000, over);
    expect(account.skips.map(({ reason }) => reason)).toEqual(['merged']);
    expect(report).toMatchObject({ missed: 0, unexplained: 0, skipped: { misfire: 0 } });
    const missed = account.runs.reduce((sum, run) => sum + (run.missed?.count ?? 0), 0);
    expect(missed + account.runs.length).toBe(8);
  });

  it('is held to a start deadline that is shorter than its grace', async () => {
    const { account, at } = await after(14_000, { startDeadlineMs: 4_000 });
    expect(account.skips[0]).toEqual({ after: at(2), through: at(10), reason: 'misfire' });
  });
});
