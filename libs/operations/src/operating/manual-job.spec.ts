import { describe, expect, it } from 'vitest';
import { JOB, jobsStage } from '../../../../test/support/operating-stage.js';

const ORDER = { by: 'ada', reason: 'a test' };

describe('a job, for whoever operates it', () => {
  it('is listed without a next instant, with its newest run', async () => {
    const { stage, jobs } = await jobsStage();
    const { runId } = await jobs.enqueue(JOB);
    const overview = (await stage.operator.list()).find(({ name }) => name === JOB);
    expect(overview).toMatchObject({ expression: '@manual', state: 'firing', next: null, cursor: null });
    expect(overview?.last?.id).toBe(runId);
  });

  it('has nothing that could be backfilled', async () => {
    const { stage } = await jobsStage();
    await stage.clock.advance(86_400_000);
    const [from, to] = [stage.at(-86_400), stage.at(86_400)];
    expect(await stage.operator.backfill(JOB, { ...ORDER, from, to, dryRun: true })).toMatchObject({ instants: 0 });
    expect(await stage.operator.backfill(JOB, { ...ORDER, from, to })).toMatchObject({ instants: 0, aborted: false });
    expect(stage.queue.taken).toEqual([]);
  });

  it('can be asked for by a person, and told to stop', async () => {
    const { stage } = await jobsStage();
    const reply = await stage.operator.trigger(JOB, { by: 'ada', payload: { to: 'ben' } });
    if (reply.verdict !== 'claimed') throw new Error(`Expected a run, got ${reply.verdict}.`);
    expect(await stage.ledger.readRun(reply.runId)).toMatchObject({ state: 'enqueued', payload: '{"to":"ben"}' });
    expect(await stage.operator.cancel(reply.runId, ORDER)).toEqual({ verdict: 'cancelled' });
  });
});
