import { describe, expect, it } from 'vitest';
import { OperatorInputError } from '@fencepost/ledger';
import { JOB, jobsStage, type JobsStage } from '../../../../test/support/operating-stage.js';

/** What became of a promise, once it has settled. */
function watched(promise: Promise<unknown>): { readonly got: () => unknown } {
  let got: unknown = 'waits';
  promise.then(
    (value) => (got = { value }),
    (error: unknown) => (got = error),
  );
  return { got: () => got };
}

const looks = ({ ledger }: JobsStage) => ledger.calls.filter((name) => name === 'readRun').length;

describe('EnqueuedRun.result', () => {
  it('resolves with what the handler returned, at once where the run has ended', async () => {
    const { stage, jobs } = await jobsStage();
    const run = await jobs.enqueue(JOB);
    await stage.execute(run.runId, { result: '{"sent":3}' });
    expect(await run.result()).toEqual({ sent: 3 });
    expect(await (await jobs.enqueueMany(JOB, [{ payload: 1 }]))[0]?.result({ timeout: 0 }).catch(codeOf)).toBe(
      'RESULT_TIMEOUT',
    );
  });

  it('resolves with null for a handler that returned nothing', async () => {
    const { stage, jobs } = await jobsStage();
    const run = await jobs.enqueue(JOB);
    await stage.execute(run.runId);
    expect(await run.result()).toBeNull();
  });

  it('waits for a run that has not ended, with one command per look, ever less often', async () => {
    const all = await jobsStage();
    const { stage, jobs } = all;
    const run = await jobs.enqueue(JOB);
    const { got } = watched(run.result());
    await stage.clock.advance(10_000);
    const before = looks(all);
    expect(before).toBeLessThan(20);
    expect(got()).toBe('waits');
    await stage.clock.advance(10_000);
    expect(looks(all) - before).toBeLessThanOrEqual(10);
    await stage.execute(run.runId, { result: '1' });
    await stage.clock.advance(1_000);
    expect(got()).toEqual({ value: 1 });
    expect(stage.clock.pending).toBe(0);
  });

  it.each(['fail', 'lose-reply'] as const)('goes on through an outage of the store: %s', async (mishap) => {
    const { stage, ledger, jobs } = await jobsStage();
    const run = await jobs.enqueue(JOB);
    await stage.execute(run.runId, { result: '1' });
    ledger.next('readRun', mishap);
    const { got } = watched(run.result());
    await stage.clock.advance(50);
    expect(got()).toEqual({ value: 1 });
  });

  it('rejects with the error of the store where that never answers', async () => {
    const { stage, ledger, jobs } = await jobsStage();
    const run = await jobs.enqueue(JOB);
    ledger.down();
    const { got } = watched(run.result({ timeout: '2s' }));
    await stage.clock.advance(2_000);
    expect(got()).toMatchObject({ message: expect.stringContaining('readRun did not get through') });
  });

  it('rejects when its timeout passes, and the run may be waited for again', async () => {
    const { stage, jobs } = await jobsStage();
    const run = await jobs.enqueue(JOB);
    const { got } = watched(run.result({ timeout: '5s' }));
    await stage.clock.advance(4_999);
    expect(got()).toBe('waits');
    await stage.clock.advance(1);
    expect(got()).toMatchObject({ code: 'RESULT_TIMEOUT', runId: run.runId });
    expect(String(got())).toContain('has not ended within 5000 ms: it is enqueued. Raise the option timeout');
    await stage.execute(run.runId, { result: '1' });
    expect(await run.result()).toBe(1);
  });

  it('waits for half a minute by default', async () => {
    const { stage, jobs } = await jobsStage();
    const { got } = watched((await jobs.enqueue(JOB)).result());
    await stage.clock.advance(29_999);
    expect(got()).toBe('waits');
    await stage.clock.advance(1);
    expect(got()).toMatchObject({ code: 'RESULT_TIMEOUT' });
  });

  it('says that a run waits for an operator where it does', async () => {
    const { stage, jobs } = await jobsStage();
    const run = await jobs.enqueue(JOB);
    const unresolvedEffect = { effect: 'charge', item: null, unknownReason: 'lost', since: 1 } as const;
    await stage.execute(run.runId, { kind: 'uncertain', error: 'nobody knows', unresolvedEffect });
    await expect(run.result({ timeout: 0 })).rejects.toThrow('it is uncertain. It waits for an operator.');
  });

  it('rejects where the run failed, was cancelled or was skipped', async () => {
    const { stage, jobs } = await jobsStage();
    const failed = await jobs.enqueue(JOB);
    await stage.execute(failed.runId, { kind: 'failed', error: 'Error: no such customer' });
    await expect(failed.result()).rejects.toMatchObject({
      code: 'RUN_FAILED',
      message: `Run "${failed.runId}" has no result: it failed (Error: no such customer).`,
    });

    const cancelled = await jobs.enqueue(JOB);
    await stage.ledger.cancel(cancelled.runId, { by: 'ada', graceMs: 0 });
    await expect(cancelled.result()).rejects.toMatchObject({
      code: 'RUN_CANCELLED',
      message: `Run "${cancelled.runId}" has no result: it was cancelled (by ada).`,
    });

    await stage.crons.set('alone', { expression: '@manual', overlap: 'skip' }, { by: 'ada' });
    await jobs.enqueue('alone');
    const skipped = await jobs.enqueue('alone');
    await expect(skipped.result()).rejects.toMatchObject({
      code: 'RUN_SKIPPED',
      message: `Run "${skipped.runId}" has no result: it was skipped (overlap).`,
    });
  });

  it('rejects where the record of the run is gone', async () => {
    const { stage, jobs } = await jobsStage();
    const run = await jobs.enqueue(JOB, 1, { idempotencyKey: 'order-1' });
    await stage.execute(run.runId);
    await stage.ledger.forgetAll([JOB], 0);
    await expect(run.result()).rejects.toMatchObject({ code: 'RUN_FORGOTTEN', runId: run.runId });
    const again = await jobs.enqueue(JOB, 1, { idempotencyKey: 'order-1' });
    expect(again).toEqual({ runId: run.runId, created: false, alreadyDone: true });
    await expect(again.result()).rejects.toMatchObject({ code: 'RUN_FORGOTTEN' });
  });

  it('ends with its signal, and leaves no timer', async () => {
    const { stage, jobs } = await jobsStage();
    const run = await jobs.enqueue(JOB);
    const [before, during] = [AbortSignal.abort(new Error('too late')), new AbortController()];
    await expect(run.result({ signal: before })).rejects.toThrow('too late');
    const waiting = run.result({ signal: during.signal });
    await stage.clock.advance(10);
    during.abort(new Error('gone'));
    await expect(waiting).rejects.toThrow('gone');
    expect(stage.clock.pending).toBe(0);
    expect((await stage.ledger.readRun(run.runId))?.state).toBe('enqueued');
  });

  it('refuses a timeout that is none', async () => {
    const { jobs } = await jobsStage();
    const run = await jobs.enqueue(JOB);
    await expect(run.result({ timeout: 'soon' })).rejects.toThrow(OperatorInputError);
  });
});

describe('an enqueued run', () => {
  it('is plain data for whoever sends or compares it', async () => {
    const { jobs } = await jobsStage();
    const run = await jobs.enqueue(JOB, 1, { idempotencyKey: 'order-1' });
    expect(JSON.stringify(run)).toBe('{"runId":"send-mail@order-1","created":true}');
    expect(Object.keys(run)).toEqual(['runId', 'created']);
  });
});

function codeOf(error: unknown): unknown {
  return (error as { readonly code?: unknown }).code;
}
