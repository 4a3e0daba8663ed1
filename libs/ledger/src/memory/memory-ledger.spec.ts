import { describe, expect, it } from 'vitest';
import { FenceExhaustedError } from '@fencepost/lease';
import { ManualClock } from '@fencepost/lease/testing';
import { isLong } from '../../../../test/support/run-length.js';
import { ledgerContract } from '../../../testing/src/ledger-contract/index.js';
import { Stage, type MakeLedgerHarness } from '../../../testing/src/ledger-contract/stage.js';
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
    const stage = await Stage.of(inMemory(new ManualClock(Date.UTC(2260, 0, 1))));
    const runId = await stage.claimed(1);
    await expect(stage.ledger.begin(stage.attempt(runId))).rejects.toThrow(FenceExhaustedError);
    expect(await stage.run(runId)).toMatchObject({ state: 'claimed', attempt: 0 });
  });
});
