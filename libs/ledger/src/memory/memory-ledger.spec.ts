import { describe, expect, it } from 'vitest';
import { FenceExhaustedError } from '@fencepost/lease';
import { ManualClock } from '@fencepost/lease/testing';
import { isLong } from '../../../../test/support/run-length.js';
import { ledgerContract, type MakeLedgerHarness } from '@fencepost/testing/ledger-contract';
import { MemoryLedger } from './memory-ledger.js';

function inMemory(clock = new ManualClock()): MakeLedgerHarness {
  return async (timing = {}) => ({
    ledger: new MemoryLedger(clock, timing),
    cron: 'nightly-report',
    now: async () => clock.now(),
    advance: (ms) => clock.advance(ms),
    clockGoesBack: async (_runId, ms) => clock.jumpWall(-ms),
  });
}

ledgerContract('the memory ledger', inMemory(), { histories: isLong ? 1_000 : 300 });

describe('the memory ledger', () => {
  it('issues no fence past 2^53 − 1, and the run stays as it was', async () => {
    const ledger = new MemoryLedger(new ManualClock(Date.UTC(2260, 0, 1)));
    const runId = 'nightly-report@manual-1';
    const words = { generation: 1, by: 'ada', why: null, payload: null, handler: null, missed: null } as const;
    await ledger.trigger({ runId, nonce: 'n', scheduledAt: null, reason: 'manual', overlap: 'allow', ...words });
    const begin = ledger.begin({ runId, nonce: 'n', worker: 'worker/1', ttlMs: 60_000, maxAttempts: 3 });
    await expect(begin).rejects.toThrow(FenceExhaustedError);
    expect(await ledger.readRun(runId)).toMatchObject({ state: 'claimed', attempt: 0 });
  });
});
