import { beforeEach, describe, expect, it } from 'vitest';
import type { ClaimReply, ClaimRequest } from '@fencepost/ledger';
import { fence, LONG_MS, Stage, type MakeLedgerHarness } from './stage.js';

/** An operator's word is looked at inside the claim. */
export function pauseContract(makeHarness: MakeLedgerHarness): void {
  let stage: Stage;
  beforeEach(async () => {
    stage = await Stage.of(makeHarness);
  });

  const order = { by: 'ada', reason: 'migration' };
  const PAUSED = { verdict: 'skipped', reason: 'paused' };

  function pause(until: number | null = null) {
    return stage.ledger.pause(stage.cron, { ...order, until });
  }

  async function claim(n: number, over: Partial<ClaimRequest> = {}): Promise<ClaimReply> {
    return stage.ledger.claim(await stage.request(n, over));
  }

  describe('a cron that is paused', () => {
    it('shows who paused it, when, until when and why', async () => {
      const before = await stage.harness.now();
      const until = before + LONG_MS;
      const paused = await pause(until);
      expect(paused).toEqual({ ...order, since: expect.any(Number), until });
      expect(paused.since).toBeGreaterThanOrEqual(before);
      expect(paused.since).toBeLessThanOrEqual(await stage.harness.now());
      expect((await stage.ledger.readCron(stage.cron)).paused).toEqual(paused);
    });

    it('skips its instants with that reason, makes no run, and moves the cursor', async () => {
      await stage.claimed(1);
      await pause();
      expect(await claim(2)).toEqual(PAUSED);
      expect(await stage.ledger.skips(stage.cron, 10)).toEqual([stage.range(1, 2, 'paused')]);
      expect(await stage.ledger.readRun(stage.idOf(2))).toBeNull();
      expect((await stage.ledger.readCron(stage.cron)).cursor).toBe(stage.instant(2));
      expect((await stage.overdue(1)).watched).toBe(1);
    });

    it('counts from the end of what is skipped for another reason', async () => {
      await stage.claimed(1);
      await pause();
      expect(await claim(6, { skips: [stage.range(1, 3), stage.range(3, 4, 'merged')] })).toEqual(PAUSED);
      const ranges = [stage.range(4, 6, 'paused'), stage.range(3, 4, 'merged'), stage.range(1, 3)];
      expect(await stage.ledger.skips(stage.cron, 10)).toEqual(ranges);
    });

    it('that never fired counts from just before its first instant', async () => {
      await pause();
      expect(await claim(1)).toEqual(PAUSED);
      const through = stage.instant(1);
      expect(await stage.ledger.skips(stage.cron, 10)).toEqual([{ after: through - 1, through, reason: 'paused' }]);
    });

    it('leaves one range, however many instants come meanwhile', async () => {
      await stage.claimed(1);
      await pause();
      for (const n of [2, 3, 4]) expect(await claim(n)).toEqual(PAUSED);
      expect(await stage.ledger.skips(stage.cron, 10)).toEqual([stage.range(1, 4, 'paused')]);
      await stage.ledger.resume(stage.cron);
      await stage.claimed(5);
      await pause();
      await claim(6);
      expect(await stage.ledger.skips(stage.cron, 10)).toEqual([
        stage.range(5, 6, 'paused'),
        stage.range(1, 4, 'paused'),
      ]);
    });

    it('records a plan without an occurrence as it was planned', async () => {
      await pause();
      expect(await claim(1, { skips: [stage.range(0, 3)], occurrence: null })).toEqual({ verdict: 'recorded' });
      expect(await stage.ledger.skips(stage.cron, 10)).toEqual([stage.range(0, 3)]);
    });

    it('lets running work go on, and what waits begin', async () => {
      const attempt = await stage.begun(await stage.claimed(1));
      const waiting = await stage.claimed(2);
      await pause();
      expect(await stage.ledger.heartbeat(attempt, LONG_MS)).toBe('extended');
      expect(await stage.ledger.finish(attempt, { kind: 'succeeded' })).toBe('succeeded');
      await stage.begun(waiting);
    });

    it('answers the same to a claim that is sent again, also after it was resumed', async () => {
      await pause();
      const request = await stage.request(1);
      expect(await stage.ledger.claim(request)).toEqual(PAUSED);
      await stage.ledger.resume(stage.cron);
      expect(await stage.ledger.claim(request)).toEqual(PAUSED);
      expect(await stage.ledger.skips(stage.cron, 10)).toHaveLength(1);
      expect(await stage.refusals()).toBe(0);
    });

    it('is refused to whoever is stale before anybody asks whether it is paused', async () => {
      await stage.claimed(1);
      await pause();
      expect(await claim(2, { fence: fence(1) })).toMatchObject({ verdict: 'stale' });
      expect(await claim(2, { generation: 0 })).toMatchObject({ verdict: 'stale-definition' });
      expect(await claim(2, { cursor: null })).toMatchObject({ verdict: 'moved' });
      expect(await stage.ledger.skips(stage.cron, 10)).toEqual([]);
    });
  });

  describe('a pause', () => {
    it('ends by itself when its time is up', async () => {
      await pause((await stage.harness.now()) + 20);
      await stage.harness.advance(21);
      expect((await stage.ledger.readCron(stage.cron)).paused).toBeNull();
      await stage.claimed(1);
      expect(await stage.ledger.resume(stage.cron)).toBeNull();
    });

    it('can be changed: the later word counts, and it is still one pause', async () => {
      const first = await pause();
      await stage.harness.advance(2);
      const until = (await stage.harness.now()) + LONG_MS;
      const changed = { by: 'grace', reason: 'longer', until };
      expect(await stage.ledger.pause(stage.cron, changed)).toEqual({ ...changed, since: first.since });
    });

    it('ends by a resume, which says what it was; a second one finds none', async () => {
      const paused = await pause();
      expect(await stage.ledger.resume(stage.cron)).toEqual(paused);
      expect((await stage.ledger.readCron(stage.cron)).paused).toBeNull();
      expect(await stage.ledger.resume(stage.cron)).toBeNull();
      await stage.claimed(1);
    });

    it('of a cron that the ledger has never seen is kept for when it comes', async () => {
      await pause();
      expect(await stage.ledger.readCron(stage.cron)).toMatchObject({ cursor: null, generation: 0 });
      expect(await claim(1)).toEqual(PAUSED);
    });
  });
}
