import { beforeEach, describe, expect, it } from 'vitest';
import { Stage, type LedgerHarness } from './stage.js';

/** Of a ledger that sends commands, which a client repeats when it got no answer. */
export interface ResendingHarness extends LedgerHarness {
  /** Calls `send`. @returns what makes the store get the same command, with the same nonce, once more */
  resendable(send: () => Promise<unknown>): Promise<() => Promise<unknown>>;
}

/** The nonces of these orders are the ledger's own: a test can't send one again through the port. */
export function lateDuplicateContract(makeHarness: () => Promise<ResendingHarness>): void {
  describe('an order that arrives again', () => {
    let harness: ResendingHarness;
    let stage: Stage;
    beforeEach(async () => {
      harness = await makeHarness();
      stage = await Stage.of(async () => harness);
    });

    const pause = () => stage.ledger.pause(stage.cron, { by: 'ada', reason: 'migration', until: null });
    const resume = () => stage.ledger.resume(stage.cron);
    const paused = async () => (await stage.ledger.readCron(stage.cron)).paused;

    it('as a pause, after the resume that ended it, leaves the cron running', async () => {
      const again = await harness.resendable(pause);
      await resume();
      await again();
      expect(await paused()).toBeNull();
      await stage.claimed(1);
    });

    it('as a resume, after another pause, leaves the cron paused', async () => {
      await pause();
      const again = await harness.resendable(resume);
      await harness.advance(1);
      const second = await pause();
      await again();
      expect(await paused()).toEqual(second);
      expect(await stage.ledger.claim(await stage.request(1))).toEqual({ verdict: 'skipped', reason: 'paused' });
    });

    it.each(['pause', 'resume'])('as a %s, before anything else happened, is answered as it was', async (word) => {
      if (word === 'resume') await pause();
      const again = await harness.resendable(word === 'pause' ? pause : resume);
      const before = await paused();
      await harness.advance(1);
      // The pause that is in force, or the one that has ended.
      expect(JSON.stringify(await again())).toContain('migration');
      expect(await paused()).toEqual(before);
    });
  });
}
