import { beforeEach, describe, expect, it } from 'vitest';
import type { ClaimReply, ClaimRequest } from '@fencepost/ledger';
import { MAX_QUEUE_LENGTH, type OverlapPolicy } from '@fencepost/ledger/run';
import { LONG_MS, Stage, type MakeLedgerHarness } from './stage.js';

/** What a new run does to those that are open, decided when it is claimed. */
export function capacityContract(makeHarness: MakeLedgerHarness): void {
  let stage: Stage;
  beforeEach(async () => {
    stage = await Stage.of(makeHarness);
  });

  async function claim(n: number, over: Partial<ClaimRequest>): Promise<ClaimReply> {
    return stage.ledger.claim(await stage.request(n, over));
  }

  async function running(n: number) {
    return stage.begun(await stage.enqueued(n));
  }

  /** It failed once and waits for its next attempt. */
  async function retrying(n: number): Promise<string> {
    const attempt = await running(n);
    await stage.ledger.finish(attempt, { kind: 'retry', error: 'again', delayMs: 0 });
    return attempt.runId;
  }

  async function states(): Promise<string[]> {
    const runs = await stage.ledger.runs(stage.cron, 1_000);
    return runs.toReversed().map(({ state, skipped }) => skipped ?? state);
  }

  /** Whatever stops waiting is nobody's business any more. */
  async function expectOutOfTheWay(runId: string): Promise<void> {
    expect((await stage.ledger.pending(stage.cron)).map((delivery) => delivery.runId)).not.toContain(runId);
    const run = await stage.run(runId);
    expect(run.finishedAt).not.toBeNull();
    expect(await stage.ledger.begin(stage.attempt(runId))).toEqual({ verdict: 'terminal', state: run.state });
    await stage.ledger.confirm([runId]);
    expect(await stage.run(runId)).toEqual(run);
  }

  const EVERY: OverlapPolicy[] = ['skip', 'queue-one', 'queue-all', 'replace'];

  describe('where several runs may be open at once', () => {
    it.each(EVERY)('"%s" leaves them alone until there are as many', async (overlap) => {
      await running(1);
      await stage.enqueued(2);
      await stage.claimed(3, { overlap, maxConcurrency: 3 });
      expect(await states()).toEqual(['running', 'enqueued', 'claimed']);
      expect((await stage.run(stage.idOf(1))).cancel).toBeNull();
    });

    it('the next one is skipped', async () => {
      await running(1);
      await stage.enqueued(2);
      expect(await claim(3, { overlap: 'skip', maxConcurrency: 2 })).toEqual({ verdict: 'skipped', reason: 'overlap' });
    });

    it('those that lost their worker take no place', async () => {
      await stage.lapse(await running(1));
      await stage.orphan(await running(2));
      await running(3);
      expect(await claim(4, { overlap: 'skip', maxConcurrency: 2 })).toMatchObject({ verdict: 'claimed' });
    });
  });

  describe('a queue of one', () => {
    it('keeps the newest: one that waits already is superseded, and one that runs goes on', async () => {
      await running(1);
      await stage.enqueued(2);
      await stage.claimed(3, { overlap: 'queue-one' });
      expect(await states()).toEqual(['running', 'superseded', 'claimed']);
      await expectOutOfTheWay(stage.idOf(2));
      expect((await stage.overdue(1)).watched).toBe(2);
    });

    it('leaves the one alone whose turn it is: who comes faster than its workers runs all the same', async () => {
      for (const n of [1, 2, 3, 4]) await stage.claimed(n, { overlap: 'queue-one' });
      expect(await states()).toEqual(['claimed', 'superseded', 'superseded', 'claimed']);
    });

    it('counts one that waits for its next attempt as one that runs', async () => {
      await retrying(1);
      await stage.claimed(2, { overlap: 'queue-one' });
      await stage.claimed(3, { overlap: 'queue-one' });
      expect(await states()).toEqual(['enqueued', 'superseded', 'claimed']);
    });
  });

  describe('a queue of all', () => {
    it(`takes ${MAX_QUEUE_LENGTH}, and skips what comes then`, async () => {
      const attempt = await running(0);
      for (let n = 1; n <= MAX_QUEUE_LENGTH; n += 1) await stage.claimed(n, { overlap: 'queue-all' });
      const n = MAX_QUEUE_LENGTH + 1;
      expect(await claim(n, { overlap: 'queue-all' })).toEqual({ verdict: 'skipped', reason: 'overlap' });
      expect(await stage.run(stage.idOf(1))).toMatchObject({ state: 'claimed' });

      await stage.ledger.finish(attempt, { kind: 'succeeded' });
      await stage.begun(stage.idOf(1));
      expect(await claim(n + 1, { overlap: 'queue-all' })).toMatchObject({ verdict: 'claimed' });
    });
  });

  describe('a run that replaces others', () => {
    const replacing = { overlap: 'replace', cancelGraceMs: 5_000 } as const;

    it('supersedes those that wait for their first attempt', async () => {
      await stage.enqueued(1);
      await stage.claimed(2);
      await stage.claimed(3, replacing);
      expect(await states()).toEqual(['superseded', 'superseded', 'claimed']);
      await expectOutOfTheWay(stage.idOf(1));
      await expectOutOfTheWay(stage.idOf(2));
    });

    it('cancels one that waits for its next attempt', async () => {
      const old = await retrying(1);
      await stage.claimed(2, replacing);
      expect(await stage.run(old)).toMatchObject({
        state: 'cancelled',
        cancel: { by: `replaced by ${stage.idOf(2)}` },
      });
      await expectOutOfTheWay(old);
    });

    it('tells one that runs, and leaves it its grace', async () => {
      const old = await running(1);
      const before = await stage.harness.now();
      await stage.claimed(2, replacing);
      const { state, cancel } = await stage.run(old.runId);
      expect(state).toBe('running');
      expect(cancel).toEqual({
        at: expect.any(Number),
        by: `replaced by ${stage.idOf(2)}`,
        until: (cancel?.at ?? 0) + 5_000,
      });
      expect(cancel?.at).toBeGreaterThanOrEqual(before);
      expect(await stage.ledger.heartbeat(old, LONG_MS)).toBe('cancelled');
    });

    it('is the last word, and gives no second grace', async () => {
      const old = await running(1);
      await stage.claimed(2, replacing);
      const { cancel } = await stage.run(old.runId);
      await stage.harness.advance(2);
      await stage.claimed(3, replacing);
      expect(await states()).toEqual(['running', 'superseded', 'claimed']);
      expect((await stage.run(old.runId)).cancel).toEqual(cancel);
    });
  });

  it('what a run is to be carried out with is kept with it', async () => {
    const startBy = stage.instant(9);
    const runId = await stage.claimed(1, { handler: 'import', payload: '{"shop":"ü \\u0000"}', startBy });
    expect(await stage.run(runId)).toMatchObject({ handler: 'import', payload: '{"shop":"ü \\u0000"}', by: null });
    const reply = await stage.ledger.begin(stage.attempt(runId));
    expect(reply).toEqual({ verdict: 'terminal', state: 'skipped' });
  });
}
