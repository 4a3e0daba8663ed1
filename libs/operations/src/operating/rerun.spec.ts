import { describe, expect, it } from 'vitest';
import { CRON } from '../../../../test/support/audit-history.js';
import { begin, ended, FAILED, failedRuns, ORDER, uncertain } from './failed-runs.stage.js';
import { RunStateError } from './run-errors.js';

describe('a failed run', () => {
  it('is run again as a run of its own, for the same instant, by who asked', async () => {
    const all = await failedRuns();
    const runId = await ended(all, 1);
    expect(await all.runs.retry(runId, ORDER)).toEqual({ runId: `${runId}-r1` });
    expect(await all.stage.ledger.readRun(`${runId}-r1`)).toMatchObject({
      ...{ state: 'enqueued', reason: 'manual', by: 'ada', scheduledAt: all.stage.at(1), payload: '{"n":1}' },
    });
    expect(all.stage.queue.taken).toEqual([{ runId: `${runId}-r1`, delivery: 1 }]);
    expect(await all.stage.audit.list({ limit: 9 })).toMatchObject([
      { action: 'retry', ...ORDER, cron: CRON, runId, after: { runId: `${runId}-r1` } },
    ]);
  });

  it('does not do again what it had done', async () => {
    const all = await failedRuns();
    const { runId } = await all.runs.retry(await ended(all, 1), ORDER);
    const attempt = await begin(all, runId);
    expect(await all.stage.ledger.beginEffect(attempt, { name: 'first', ifUnknown: 'tell' })).toMatchObject({
      ...{ verdict: 'done', result: '"done"' },
    });
  });

  it('goes on where the last of its re-runs ended, whichever is named', async () => {
    const all = await failedRuns();
    const first = await ended(all, 1);
    const { runId: second } = await all.runs.retry(first, ORDER);
    const attempt = await begin(all, second);
    await all.stage.ledger.beginEffect(attempt, { name: 'second', ifUnknown: 'tell' });
    await all.stage.ledger.finishEffect(attempt, 'second', { kind: 'done', result: '2' });
    await all.stage.ledger.finish(attempt, FAILED);
    expect(await all.runs.retry(first, ORDER)).toEqual({ runId: `${first}-r2` });
    expect((await all.runs.inspect(`${first}-r2`)).effects.map(({ name }) => name)).toEqual(['first', 'second']);
    await all.stage.ledger.finish(await begin(all, `${first}-r2`), FAILED);
    expect(await all.runs.retry(`${first}-r2`, ORDER)).toEqual({ runId: `${first}-r3` });
  });

  it('is not run again while that goes on already, nor when that has succeeded', async () => {
    const all = await failedRuns();
    const runId = await ended(all, 1);
    await all.runs.retry(runId, ORDER);
    const again = all.runs.retry(runId, ORDER);
    await expect(again).rejects.toThrow(`was already run again, as "${runId}-r1", which is enqueued`);
    await all.stage.execute(`${runId}-r1`);
    await expect(all.runs.retry(runId, ORDER)).rejects.toThrow('which is succeeded');
    expect(all.stage.queue.taken).toHaveLength(1);
  });

  it('is not run again beside others that may not overlap, unless it is forced', async () => {
    const all = await failedRuns({ overlap: 'skip' });
    const runId = await ended(all, 1);
    await all.stage.claim(2);
    await expect(all.runs.retry(runId, ORDER)).rejects.toThrow(
      'the maximum number of open runs of its cron is reached',
    );
    expect(await all.runs.retry(runId, { ...ORDER, force: true })).toEqual({ runId: `${runId}-r2` });
    expect((await all.runs.inspect(`${runId}-r2`)).effects).toMatchObject([{ name: 'first', state: 'done' }]);
  });

  it('is not run again blindly when nobody knows whether an effect of it has happened', async () => {
    const all = await failedRuns();
    await all.stage.claim(1);
    const attempt = await begin(all, all.stage.idOf(1));
    await all.stage.ledger.beginEffect(attempt, { name: 'mail', ifUnknown: 'tell' });
    await all.stage.ledger.finish(attempt, FAILED);
    const blind = all.runs.retry(attempt.runId, ORDER);
    await expect(blind).rejects.toThrow('The outcome of these effects of run');
    await expect(blind).rejects.toThrow(RunStateError);
    const { runId } = await all.runs.retry(attempt.runId, { ...ORDER, repeatUnknown: true });
    expect(runId).toBe(`${attempt.runId}-r1`);
  });

  it('of a cron that was removed is left alone: nobody would carry it out', async () => {
    const all = await failedRuns();
    const runId = await ended(all, 1);
    await all.stage.declare({ name: 'other' });
    await expect(all.runs.retry(runId, ORDER)).rejects.toThrow('was removed');
  });
});

describe('a retry', () => {
  it('refuses a run that has not failed, and says what to do instead', async () => {
    const all = await failedRuns();
    await all.stage.ran(1);
    await all.stage.claim(2);
    const asking = await uncertain(all, 3);
    const refusals: [string, string][] = [
      [all.stage.idOf(1), 'is succeeded. To run it once more, trigger its cron'],
      [all.stage.idOf(2), 'is claimed. It is still open'],
      [asking, 'is uncertain. It waits for an answer: resolve it'],
    ];
    for (const [runId, sentence] of refusals) await expect(all.runs.retry(runId, ORDER)).rejects.toThrow(sentence);
    expect(all.stage.queue.taken).toEqual([]);
  });

  it('refuses an order without who and why', async () => {
    const all = await failedRuns();
    const runId = await ended(all, 1);
    await expect(all.runs.retry(runId, { by: '', reason: 'x' })).rejects.toThrow('Expected by to be a text');
    await expect(all.runs.retry(runId, { by: 'ada', reason: ' ' })).rejects.toThrow('Expected reason to be a text');
    await expect(all.runs.retry(runId, { ...ORDER, payload: 7n })).rejects.toThrow('Expected payload to be plain data');
  });
});
