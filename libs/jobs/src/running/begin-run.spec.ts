import { NotReplicatedError } from '@fencepost/lease/redis';
import { afterEach, describe, expect, it } from 'vitest';
import { CRON, RUN, RUN_LEASE_MS, WorkerStage } from '../../../../test/support/worker-stage.js';

let stage: WorkerStage;
afterEach(() => expect(stage.manual.pending).toBe(0));

/** Applied, and not acknowledged by a replica. */
function unacknowledged() {
  const heldBack = Promise.reject(new NotReplicatedError(1, 0, 100));
  // Handled where it is awaited, which may be later.
  heldBack.catch(() => {});
  return { heldBack };
}

describe('a begin that no replica acknowledges', () => {
  it('is asked for again and uses up one attempt', async () => {
    stage = await WorkerStage.with();
    stage.ledger.next('begin', unacknowledged(), unacknowledged());
    let handled = 0;
    const disposition = stage.deliver(() => void (handled += 1), { attempts: 1 });
    await expect.poll(() => stage.events.of('store.failed')).toHaveLength(1);
    expect(handled).toBe(0);
    await stage.manual.advance(RUN_LEASE_MS / 12);
    await expect.poll(() => stage.events.of('store.failed')).toHaveLength(2);
    await stage.manual.advance(RUN_LEASE_MS / 12);
    expect(await disposition).toEqual({ kind: 'settled' });
    expect(handled).toBe(1);
    expect(await stage.memoryLedger.readRun(RUN)).toMatchObject({ state: 'succeeded', attempt: 1 });
  });

  it('is given up when half of its run lease is over, and when the worker stops', async () => {
    stage = await WorkerStage.with();
    stage.ledger.next('begin', ...Array.from({ length: 9 }, unacknowledged));
    const late = stage.deliver(() => {});
    await expect.poll(() => stage.events.of('store.failed')).toHaveLength(1);
    await stage.manual.advance(RUN_LEASE_MS / 2);
    expect(await late).toEqual({ kind: 'later', waitMs: 1_000 });
    const stopped = AbortSignal.abort(new Error('the process stops'));
    expect(await stage.deliver(() => {}, { signal: stopped })).toEqual({ kind: 'later', waitMs: 1_000 });
    expect(stage.events.of('attempt.begun')).toEqual([]);
    expect((await stage.memoryLedger.readCron(CRON)).refusals).toBe(0);
  });
});
