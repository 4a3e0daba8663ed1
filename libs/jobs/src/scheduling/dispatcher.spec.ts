import { describe, expect, it, vi } from 'vitest';
import type { CronDefinition } from '@fencepost/ledger/catalog';
import { another, oneCron, ran, CRON } from '../../../../test/support/planning-stage.js';

describe('the dispatcher', () => {
  it('claims what is due, then enqueues it, then confirms it', async () => {
    const { stage, held, at, dispatch, idOf } = await oneCron();
    expect(await dispatch()).toEqual([{ lookAt: at(2) }]);
    expect(stage.events.names).toEqual(['occurrence.claiming', 'occurrence.claimed', 'run.enqueued', 'run.confirmed']);
    expect(stage.events.of('occurrence.claimed')).toEqual([
      { cron: CRON, runId: idOf(1), fence: 1, reason: 'schedule', lateByMs: 0 },
    ]);
    expect(stage.ledger.calls).toEqual(['claimAll', 'confirm']);
    expect(await stage.memoryLedger.readRun(idOf(1))).toMatchObject({
      state: 'enqueued',
      claimedBy: 'pod/1',
      delivery: 1,
    });
    expect(held.cursor).toBe(at(1));
  });

  it('asks nothing while nothing is due, and says when to look again', async () => {
    const { stage, at, dispatch } = await oneCron();
    await dispatch();
    stage.ledger.calls.length = 0;
    expect(await dispatch()).toEqual([{ lookAt: at(2) }]);
    expect(stage.ledger.calls).toEqual([]);
  });

  it('says never for a cron that does not fire, and for one that it can not read', async () => {
    const { stage, dispatch } = await oneCron();
    stage.declare({ timeZone: 'Mars/Olympus' });
    expect(await dispatch()).toEqual([{ lookAt: null }]);
    expect(await dispatch()).toEqual([{ lookAt: null }]);
    expect(stage.events.of('catalog.unreadable')).toHaveLength(1);
    stage.declare({}, 'disabled');
    expect(await dispatch()).toEqual([{ lookAt: null }]);
    expect(stage.ledger.calls).toEqual([]);
  });

  it('records and tells what went by without running', async () => {
    const { stage, at, dispatch } = await oneCron({ graceMs: 900 });
    await stage.clock.advance(4_500);
    expect(await dispatch()).toEqual([{ lookAt: at(6) }]);
    const passed = { after: at(0), through: at(4), reason: 'misfire' };
    expect(stage.events.of('occurrence.passed')).toEqual([{ cron: CRON, ...passed }]);
    expect(await stage.memoryLedger.skips(CRON, 10)).toEqual([passed]);
  });

  it('enqueues nothing for an occurrence that overlaps its predecessor', async () => {
    const { stage, at, dispatch } = await oneCron({ overlap: 'skip' });
    await dispatch();
    await stage.clock.advance(1_000);
    expect(await dispatch()).toEqual([{ lookAt: at(3), obstacle: 'blocked' }]);
    expect(stage.events.of('occurrence.skipped')).toEqual([{ cron: CRON, scheduledAt: at(2), reason: 'overlap' }]);
    expect(stage.queue.calls).toEqual(['enqueue']);
  });

  it('stops acting for a definition that is older than the accepted one, and says which that is', async () => {
    const { stage, held, at, dispatch } = await oneCron();
    await dispatch({ ...held, entry: { ...held.entry, generation: 2 } });
    await stage.clock.advance(1_000);
    held.cursor = at(1);
    expect(await dispatch()).toEqual([{ stale: true, outdated: 2 }]);
    expect(stage.events.of('claim.outdated')).toEqual([{ cron: CRON, generation: 1, accepted: 2 }]);
  });

  it('does not even ask once the cron is given up, or its lease about to end', async () => {
    const { stage, held, dispatch } = await oneCron();
    const ending = { ...held.lease, trustedUntil: stage.clock.monotonic() + held.lease.ttlMs / 6 };
    expect(await dispatch({ ...held, over: true }, { ...held, lease: ending })).toEqual([
      { stale: true },
      { stale: true },
    ]);
    expect(stage.ledger.calls).toEqual([]);
  });

  it('leaves a cron to its own trouble: the others that are due are claimed and enqueued', async () => {
    const { stage, held, at, dispatch } = await oneCron();
    const real = stage.memoryLedger.claimAll.bind(stage.memoryLedger);
    vi.spyOn(stage.memoryLedger, 'claimAll').mockImplementationOnce(async ([, ...others]) => [
      { status: 'rejected', reason: new Error('Connection is closed.') },
      ...(await real(others)),
    ]);
    expect(await dispatch(held, another(stage))).toEqual([{ failed: true }, { lookAt: at(2) }]);
    expect(await ran(stage, 'other')).toEqual([1]);
    expect(stage.events.of('store.failed')).toEqual([
      { operation: 'occurrence.claim', cron: CRON, err: new Error('Connection is closed.') },
    ]);
    expect(held.cursor).toBeNull();
  });

  it.each([
    ['the queue', 'enqueue'],
    ['the confirmation', 'confirm'],
  ])('counts what was claimed as failed when %s does not answer, and what was not as it is', async (_what, step) => {
    const { stage, held, at, dispatch, idOf } = await oneCron();
    const other = another(stage, { overlap: 'skip' });
    await dispatch(other);
    await stage.clock.advance(1_000);
    if (step === 'enqueue') stage.queue.next('enqueue', 'fail');
    else stage.ledger.next('confirm', 'fail');
    expect(await dispatch(held, other)).toEqual([{ failed: true }, { lookAt: at(3), obstacle: 'blocked' }]);
    expect(await stage.memoryLedger.pending(CRON)).toEqual([{ runId: idOf(2), delivery: 1 }]);
  });
});

describe('a claim', () => {
  async function claimed(over: Partial<CronDefinition>, passedMs = 0) {
    const { stage, dispatch } = await oneCron(over);
    await stage.clock.advance(passedMs);
    const claimAll = vi.spyOn(stage.memoryLedger, 'claimAll');
    const [answer] = await dispatch();
    return { stage, answer, request: claimAll.mock.calls[0]?.[0][0] };
  }

  it('carries what the ledger and the worker need of the definition, or its defaults', async () => {
    const { stage, request } = await claimed({});
    expect(request).toMatchObject({
      ...{ cron: CRON, fence: 1, term: 'term 1', holder: 'pod/1', generation: 1, cursor: null, skips: [] },
      ...{ spreadMs: 0, overlap: 'allow', maxConcurrency: 1, cancelGraceMs: 30_000 },
      ...{ startBy: null, handler: null, payload: null },
    });
    expect(
      (await claimed({ handler: 'h', payload: { a: 1 }, maxConcurrency: 3, cancelGraceMs: 5 })).request,
    ).toMatchObject({ handler: 'h', payload: '{"a":1}', maxConcurrency: 3, cancelGraceMs: 5 });
    expect((await claimed({ payload: null })).request?.payload).toBe('null');
    expect((await claimed({ startDeadlineMs: 5_000 })).request?.startBy).toBe(stage.start + 6_000);
  });

  it('has a nonce of its own', async () => {
    expect((await claimed({})).request?.nonce).not.toBe((await claimed({})).request?.nonce);
  });

  it("has catch-ups of 'fire-all' wait in line, and what is on time keep its policy", async () => {
    const all = { misfire: 'fire-all', catchUpWindowMs: 60_000 } as const;
    const overlapOf = async (over: Partial<CronDefinition>, passedMs: number) =>
      (await claimed({ ...all, ...over }, passedMs)).request?.overlap;
    expect(await overlapOf({ overlap: 'skip' }, 1_000)).toBe('queue-all');
    expect(await overlapOf({ overlap: 'skip' }, 0)).toBe('skip');
    expect(await overlapOf({ overlap: 'allow' }, 1_000)).toBe('allow');
    expect(await overlapOf({ overlap: 'skip', misfire: 'fire-once' }, 1_000)).toBe('skip');
  });

  it("of 'fire-all' is followed by the next look at once, as long as something is left", async () => {
    const { stage, answer } = await claimed({ misfire: 'fire-all', catchUpWindowMs: 60_000 }, 2_000);
    expect(answer).toEqual({ lookAt: stage.start + 2_000 });
    await stage.serve(0);
    expect(await ran(stage)).toEqual([1, 2, 3]);
  });
});
