import { describe, expect, it } from 'vitest';
import { Stage, type MakeLedgerHarness } from './stage.js';

/** A reply got lost and the call is sent again: as normal as a crash. */
export function repeatedClaimContract(makeHarness: MakeLedgerHarness): void {
  describe('a claim that is sent again', () => {
    it('answers the same and changes nothing', async () => {
      const stage = await Stage.of(makeHarness);
      const request = await stage.request(1, { skips: [skipBefore(stage)] });
      const reply = await stage.ledger.claim(request);
      const before = await stage.run(stage.idOf(1));
      await stage.harness.advance(2);

      expect(await stage.ledger.claim(request)).toEqual(reply);
      expect(reply).toEqual({ verdict: 'claimed', runId: stage.idOf(1) });
      expect(await stage.run(stage.idOf(1))).toEqual(before);
      expect(await stage.ledger.pending(stage.cron)).toEqual([{ runId: stage.idOf(1), delivery: 1 }]);
      expect(await stage.ledger.skips(stage.cron, 10)).toHaveLength(1);
      expect(await stage.refusals()).toBe(0);
    });

    it('is skipped again when it was skipped, also when nothing stands in its way any more', async () => {
      const stage = await Stage.of(makeHarness);
      const attempt = await stage.begun(await stage.claimed(1));
      const request = await stage.request(2, { overlap: 'skip' });
      const skipped = { verdict: 'skipped', reason: 'overlap' };
      expect(await stage.ledger.claim(request)).toEqual(skipped);
      await stage.ledger.finish(attempt, { kind: 'succeeded' });

      expect(await stage.ledger.claim(request)).toEqual(skipped);
      expect(await stage.run(stage.idOf(2))).toMatchObject({ state: 'skipped', skipped: 'overlap' });
    });

    it('is recorded again when there were only instants to skip', async () => {
      const stage = await Stage.of(makeHarness);
      const request = await stage.request(1, { skips: [skipBefore(stage)], occurrence: null });
      expect(await stage.ledger.claim(request)).toEqual({ verdict: 'recorded' });
      expect(await stage.ledger.claim(request)).toEqual({ verdict: 'recorded' });
      expect(await stage.ledger.skips(stage.cron, 10)).toHaveLength(1);
    });

    it('is another decision under another nonce', async () => {
      const stage = await Stage.of(makeHarness);
      const request = await stage.request(1);
      await stage.ledger.claim(request);
      const moved = { verdict: 'moved', cursor: stage.instant(1) };
      expect(await stage.ledger.claim({ ...request, nonce: 'another' })).toEqual(moved);
    });
  });
}

function skipBefore(stage: Stage) {
  return { after: stage.instant(-1), through: stage.instant(0), reason: 'misfire' as const };
}
