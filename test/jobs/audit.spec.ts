import { randomUUID } from 'node:crypto';
import { ManualClock } from '@fencepost/lease/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { audit } from '@fencepost/operations/audit';
import { MemoryLedger } from '@fencepost/ledger/memory';
import { CRON, definitionOf, entryOf, generationsOf, SECOND } from '../support/audit-history.js';
import { claim, claimOf, Stores } from './audit-stores.js';
import { redisSpaces } from './redis-space.js';

const spaces = redisSpaces();

describe('an audit of stores in Redis', () => {
  let stores: Stores;
  /** Seconds 1 to 12: ran, ran, paused, paused, waits, overlapped, cancelled, misfired, misfired, caught up, merged, caught up. */
  beforeEach(async () => {
    stores = await Stores.of(spaces.redis(), spaces.fresh());
    const { ledger } = stores;
    for (const second of [1, 2]) {
      await stores.claim(second);
      const runId = stores.idOf(second);
      const begun = await ledger.begin({ runId, nonce: runId, worker: 'w', ttlMs: 60_000, maxAttempts: 1 });
      if (begun.verdict !== 'begun') throw new Error(`Expected to begin, got ${begun.verdict}.`);
      await ledger.finish({ runId, nonce: runId, fence: begun.fence }, { kind: 'succeeded' });
    }
    await ledger.pause(CRON, { by: 'ada', reason: 'a test', until: null });
    for (const second of [3, 4]) await stores.claim(second);
    await ledger.resume(CRON, { by: 'ada', reason: 'a test' });
    await stores.claim(5);
    await stores.claim(6, { overlap: 'skip' });
    await stores.claim(7);
    await ledger.cancel(stores.idOf(7), { by: 'ada', reason: 'a test', graceMs: 0 });
    await stores.skip(7, 9);
    const occurrence = (second: number) => ({
      scheduledAt: stores.at(second),
      dueAt: stores.at(second),
      reason: 'catch-up' as const,
      missed: null,
    });
    await stores.claim(10, { occurrence: occurrence(10) });
    const skips = [{ after: stores.at(10), through: stores.at(11), reason: 'merged' as const }];
    await stores.claim(12, { skips, occurrence: occurrence(12) });
  });

  it('finds nothing in what is in order', async () => {
    expect(await stores.audit(12)).toMatchObject({
      ok: true,
      crons: 1,
      instants: 12,
      ran: 2,
      cancelled: 1,
      waiting: 3,
      skipped: { overlap: 1, misfire: 2, merged: 1, paused: 2, superseded: 0 },
      findings: [],
      notCovered: [],
    });
  });

  it('finds nothing in what people asked for', async () => {
    const { ledger } = stores;
    const asked = {
      generation: 1,
      by: 'ada',
      why: null,
      payload: null,
      handler: null,
      missed: null,
      overlap: 'allow',
    } as const;
    const natural = { runId: stores.idOf(8), scheduledAt: stores.at(8), reason: 'backfill' } as const;
    const again = { runId: `${stores.idOf(6)}-r1`, scheduledAt: stores.at(6), reason: 'backfill' } as const;
    const now = { runId: `${CRON}@manual-1`, scheduledAt: null, reason: 'manual' } as const;
    const resumed = { runId: `${CRON}@manual-2`, scheduledAt: null, reason: 'catch-up' } as const;
    for (const run of [natural, again, now, resumed]) {
      expect(await ledger.trigger({ ...asked, ...run, nonce: randomUUID() })).toMatchObject({ verdict: 'claimed' });
    }
    expect(await stores.audit(12)).toMatchObject({ ok: true, instants: 12, skipped: { misfire: 2, overlap: 1 } });
  });

  it('finds a run that was taken away', async () => {
    await stores.takeAway(stores.idOf(2));
    expect(await stores.audit(12)).toMatchObject({ ok: false, missed: 1, findings: [{ instant: stores.at(2) }] });
  });

  it('finds each instant of a skipped range that was taken away', async () => {
    await stores.redis.zremrangebyscore(stores.keys.skips, stores.at(9), stores.at(9));
    const { missed, doubled, unexplained, findings } = await stores.audit(12);
    expect({ missed, doubled, unexplained }).toEqual({ missed: 2, doubled: 0, unexplained: 0 });
    expect(findings.map(({ instant }) => instant)).toEqual([stores.at(8), stores.at(9)]);
  });

  it('finds a second run of an instant', async () => {
    const { redis, keys } = stores;
    const second = `${stores.idOf(2)}-r1`;
    await redis.copy(keys.run(stores.idOf(2)), keys.run(second));
    await redis.hset(keys.run(second), 'id', second);
    await redis.zadd(keys.runs, stores.at(2), second);
    expect(await stores.audit(12)).toMatchObject({ missed: 0, doubled: 1, unexplained: 0 });
  });

  it('finds a run at no instant', async () => {
    await stores.claim(12.5);
    await stores.claim(13);
    const { missed, doubled, unexplained, findings } = await stores.audit(13);
    expect({ missed, doubled, unexplained }).toEqual({ missed: 0, doubled: 0, unexplained: 1 });
    expect(findings).toMatchObject([{ kind: 'unexplained', instant: stores.at(12.5) }]);
  });

  it('takes what the ledger has forgotten for forgotten, and goes on after it', async () => {
    await stores.ledger.forget(CRON, 6);
    const report = await stores.audit(12);
    expect(report).toMatchObject({ ok: true, instants: 11, ran: 1 });
    expect(report.notCovered).toMatchObject([{ cron: CRON, to: stores.at(1) }]);
    await stores.redis.del(stores.keys.run(stores.idOf(2)));
    expect(await stores.audit(12)).toMatchObject({ ok: true, instants: 10, ran: 0 });
  });

  it('holds each instant against its own generation, through a redefinition and a removal', async () => {
    const { real } = stores;
    const change = { expected: 1, by: 'ada', reason: null };
    await real.put({ definition: definitionOf({ expression: '*/2 * * * * *' }), disabled: false }, change);
    await real.remove(CRON, { ...change, expected: 2 });
    const [entry] = (await stores.catalog.read()).entries;
    const [changed, removed] = [entry?.past[1]?.since ?? 0, entry?.since ?? 0];
    for (let second = 13; stores.at(second) <= removed; second += 1) {
      const at = stores.at(second);
      if (at <= changed) await stores.claim(second);
      else if ((at / SECOND) % 2 === 0) await stores.claim(second, { generation: 2 });
    }
    const report = await stores.audit(120);
    expect(report).toMatchObject({ ok: true, findings: [] });
    expect(report.instants).toBeGreaterThan(30);
    // By the schedule of either generation alone there would be more.
    expect(report.instants).toBeLessThan(42);
    await stores.claim(100, { generation: 3 });
    expect(await stores.audit(120)).toMatchObject({ unexplained: 1, missed: 0 });
  });
});

describe('an audit of a day of a cron that fires each second', () => {
  it('accounts for all of its 86,400 instants, and finds the one that is missing', async () => {
    const start = Date.UTC(2026, 2, 28, 12);
    const clock = new ManualClock(start + 90_000 * SECOND);
    const ledger = new MemoryLedger(clock);
    for (let second = 100; second <= 86_400; second += 100) {
      const through = start + (second - 1) * SECOND;
      // The last range of the day ends a second too early.
      const skips = [
        { after: through - 99 * SECOND, through: second === 86_400 ? through - 1 : through, reason: 'merged' as const },
      ];
      await claim(ledger, claimOf({ scheduledAt: start + second * SECOND, skips }));
    }
    const entry = entryOf(generationsOf({ since: start, timeZone: 'Europe/Berlin' }));
    const report = await audit({
      ledger,
      clock,
      catalog: { read: async () => ({ version: 1, readAt: clock.now(), entries: [entry] }) },
      membership: { lastHeard: async () => start + 86_402 * SECOND },
    });
    expect(report).toMatchObject({ ok: false, instants: 86_400, missed: 1, waiting: 864, skipped: { merged: 85_535 } });
    expect(report.findings).toMatchObject([{ kind: 'missed', instant: start + 86_399 * SECOND }]);
  });
});
