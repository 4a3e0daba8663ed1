import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { LATE_TRIGGER_MS, type TriggerRequest } from '@fencepost/ledger';
import { uuidV7 } from '@fencepost/jobs/internal';
import { LONG_MS, Stage, type MakeLedgerHarness } from './stage.js';

const FORGOTTEN = { verdict: 'forgotten' };

/** A run that retention removed can't come back, neither by its idempotency key nor by a late duplicate of its trigger. */
export function usedIdsContract(makeHarness: MakeLedgerHarness): void {
  let stage: Stage;
  beforeEach(async () => {
    stage = await Stage.of(makeHarness);
  });

  function withKey(key: string, over: Partial<TriggerRequest> = {}): TriggerRequest {
    return stage.order({ runId: `${stage.cron}@${key}`, keyMs: LONG_MS, ...over });
  }

  async function succeeded(request: TriggerRequest): Promise<TriggerRequest> {
    expect(await stage.ledger.trigger(request)).toEqual({ verdict: 'claimed', runId: request.runId });
    await stage.ledger.finish(await stage.begun(request.runId), { kind: 'succeeded' });
    return request;
  }

  async function forgotten(request: TriggerRequest): Promise<TriggerRequest> {
    await succeeded(request);
    expect(await stage.forget(0)).toBe(1);
    expect(await stage.ledger.readRun(request.runId)).toBeNull();
    return request;
  }

  describe('an idempotency key', () => {
    it('makes no second run while the first is on record', async () => {
      await succeeded(withKey('order42'));
      expect(await stage.ledger.trigger(withKey('order42'))).toEqual({ verdict: 'exists', state: 'succeeded' });
    });

    it('makes no second run when the record of the first is gone', async () => {
      const request = await forgotten(withKey('order42'));
      expect(await stage.ledger.trigger(withKey('order42'))).toEqual(FORGOTTEN);
      expect(await stage.ledger.trigger(request)).toEqual(FORGOTTEN);
      expect(await stage.ledger.runs(stage.cron, 10)).toEqual([]);
    });

    it('is one of many, and each of them is remembered', async () => {
      for (const key of ['a', 'b', 'c']) await forgotten(withKey(key));
      expect(await stage.ledger.countKeys(stage.cron)).toBe(3);
      for (const key of ['a', 'b', 'c']) expect(await stage.ledger.trigger(withKey(key))).toEqual(FORGOTTEN);
    });

    it('is remembered for its life and no longer, from its first use', async () => {
      const keyMs = 1_000;
      const before = await stage.harness.now();
      await forgotten(withKey('order42', { keyMs }));
      expect(await stage.ledger.trigger(withKey('order42', { keyMs }))).toEqual(FORGOTTEN);
      await stage.harness.advance(Math.max(0, before + 2 * keyMs - (await stage.harness.now())));
      expect(await stage.ledger.countKeys(stage.cron)).toBe(0);
      await succeeded(withKey('order42', { keyMs }));
    });

    it('keeps its life when others with a shorter one come after it', async () => {
      await forgotten(withKey('long'));
      await forgotten(withKey('short', { keyMs: 1 }));
      await stage.harness.advance(5);
      await forgotten(withKey('another', { keyMs: 1 }));
      await stage.harness.advance(5);
      expect(await stage.ledger.trigger(withKey('long'))).toEqual(FORGOTTEN);
      expect(await stage.ledger.countKeys(stage.cron)).toBe(1);
    });

    it('is used up by a run that was left out, too', async () => {
      await stage.claimed(1);
      const skipped = { verdict: 'skipped', reason: 'overlap' };
      expect(await stage.ledger.trigger(withKey('order42', { overlap: 'skip' }))).toEqual(skipped);
      expect(await stage.forget(0)).toBe(1);
      expect(await stage.ledger.trigger(withKey('order42', { overlap: 'skip' }))).toEqual(FORGOTTEN);
    });

    it.each([0, -1, 1.5, Number.NaN])('has a life in whole milliseconds: %s is refused', async (keyMs) => {
      await expect(stage.ledger.trigger(withKey('order42', { keyMs }))).rejects.toThrow(RangeError);
    });
  });

  describe('a late duplicate of a trigger', () => {
    it('is refused when its run was forgotten, whatever its nonce', async () => {
      const request = await forgotten(stage.order());
      expect(await stage.ledger.trigger(request)).toEqual(FORGOTTEN);
      expect(await stage.ledger.trigger({ ...request, nonce: randomUUID() })).toEqual(FORGOTTEN);
      expect(await stage.ledger.readRun(request.runId)).toBeNull();
    });

    it('is refused when it comes later than any is remembered', async () => {
      const made = async (ageMs: number) => uuidV7((await stage.harness.now()) - ageMs, randomUUID());
      const late = stage.order({ runId: `${stage.cron}@manual-${await made(LATE_TRIGGER_MS + 60_000)}` });
      expect(await stage.ledger.trigger(late)).toEqual(FORGOTTEN);
      await succeeded(stage.order({ runId: `${stage.cron}@manual-${await made(LATE_TRIGGER_MS - 60_000)}` }));
    });

    it('is refused when it was to run a forgotten run again', async () => {
      const first = await succeeded(stage.order());
      const again = await succeeded(stage.order({ runId: `${first.runId}-r1`, rerunOf: first.runId }));
      expect(await stage.forget(0)).toBe(2);
      expect(await stage.ledger.trigger(again)).toEqual(FORGOTTEN);
    });
  });
}
