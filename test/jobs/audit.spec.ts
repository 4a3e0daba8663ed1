import { ManualClock } from '@fencepost/lease/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { audit } from '@fencepost/operations/audit';
import { MemoryLedger } from '@fencepost/ledger/memory';
import { CRON, entryOf, generationsOf, SECOND } from '../support/audit-history.js';
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
    await ledger.resume(CRON);
    await stores.claim(5);
    await stores.claim(6, { overlap: 'skip' });
    await stores.claim(7);
    await ledger.cancel(stores.idOf(7), { by: 'ada', graceMs: 0 });
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

  it('takes what the ledger has forgotten for forgotten, and goes on after it', async () => {
    await stores.ledger.forgetAll([CRON], 6);
    const report = await stores.audit(12);
    expect(report).toMatchObject({ ok: true, instants: 11, ran: 1 });
    expect(report.notCovered).toMatchObject([{ cron: CRON, to: stores.at(1) }]);
    await stores.redis.del(stores.key(`run:${stores.idOf(2)}`));
    expect(await stores.audit(12)).toMatchObject({ ok: true, instants: 10, ran: 0 });
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
