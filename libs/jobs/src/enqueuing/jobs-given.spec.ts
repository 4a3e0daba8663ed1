import { SetupError } from '@fencepost/lease';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { JOB, jobsStage } from '../../../../test/support/operating-stage.js';
import { MemoryTransaction, TransactionalMemory } from '../scheduling/transactional-memory.stage.js';
import { JobPayloadError } from '../running/errors.js';
import { payloadReader } from '../running/payload-schema.js';
import { IdempotencyKeyError } from './errors.js';
import { Jobs } from './jobs.js';

describe('a payload', () => {
  const schema = z.object({ to: z.string(), at: z.string().transform((text) => new Date(text)) });
  const readerOf = (job: string) => (job === JOB ? payloadReader(JOB, schema) : undefined);

  it('is checked by the schema of its handler where that is known, and kept as it was given', async () => {
    const { stage, jobs } = await jobsStage({ readerOf });
    const { runId } = await jobs.enqueue(JOB, { to: 'ada', at: '2026-01-01' });
    expect(await stage.ledger.readRun(runId)).toMatchObject({ payload: '{"to":"ada","at":"2026-01-01"}' });
  });

  it('is refused with the name of the field', async () => {
    const { ledger, jobs } = await jobsStage({ readerOf });
    const asked = jobs.enqueue(JOB, { to: 7, at: '2026-01-01' });
    await expect(asked).rejects.toThrow(JobPayloadError);
    await expect(asked).rejects.toThrow('Invalid payload for the job "send-mail": to: ');
    expect(ledger.calls).toEqual([]);
  });

  it('is checked by the schema of the handler that carries it out', async () => {
    const { stage, jobs } = await jobsStage({ readerOf });
    await stage.crons.set('mail-too', { expression: '@manual', handler: JOB }, { by: 'ada' });
    await expect(jobs.enqueue('mail-too', {})).rejects.toThrow('to: ');
  });

  it.each<[string, unknown, string]>([
    ['a date', { at: new Date() }, 'at: expected JSON values only'],
    ['nothing at all', { list: [undefined] }, 'list.0: expected JSON values only'],
    ['a function', () => {}, 'payload: expected JSON values only'],
    ['too much', 'ä'.repeat(524_288), 'payload: expected at most 1048576 bytes as JSON, got 1048578'],
  ])('is refused when it holds %s', async (_what, payload, problem) => {
    const { ledger, jobs } = await jobsStage();
    await expect(jobs.enqueue(JOB, payload)).rejects.toThrow(problem);
    expect(ledger.calls).toEqual([]);
  });
});

describe('many jobs', () => {
  it('are enqueued in one go, each with its own options, and told of in their order', async () => {
    const { stage, queue, jobs } = await jobsStage();
    const items = [{ payload: 1 }, { payload: 2, priority: 3 }, { payload: 3, idempotencyKey: 'three' }];
    const enqueued = await jobs.enqueueMany(JOB, items);
    const runs = await Promise.all(enqueued.map(({ runId }) => stage.ledger.readRun(runId)));
    expect(runs.map((run) => run?.payload)).toEqual(['1', '2', '3']);
    expect(enqueued[2]).toEqual({ runId: 'send-mail@three', created: true });
    expect(queue.calls).toEqual(['enqueue']);
    expect(stage.queue.taken.map(({ priority }) => priority)).toEqual([undefined, 3, undefined]);
    expect(await jobs.enqueueMany(JOB, [])).toEqual([]);
  });

  it('are all checked before the first is asked for', async () => {
    const { ledger, jobs } = await jobsStage();
    await expect(jobs.enqueueMany(JOB, [{ payload: 1 }, { payload: Number.NaN }])).rejects.toThrow(JobPayloadError);
    expect(ledger.calls).toEqual([]);
  });

  it('are enqueued but for the one that could not be asked for, and the same call again goes on', async () => {
    const { stage, ledger, jobs } = await jobsStage();
    ledger.next('trigger', 'fail');
    const items = ['a', 'b'].map((idempotencyKey) => ({ idempotencyKey }));
    await expect(jobs.enqueueMany(JOB, items)).rejects.toThrow('did not get through');
    expect(stage.queue.taken.map(({ runId }) => runId)).toEqual(['send-mail@b']);
    expect((await jobs.enqueueMany(JOB, items)).map(({ created }) => created)).toEqual([true, false]);
  });
});

describe('a job that is enqueued in a transaction', () => {
  async function transactional() {
    const { ports, stage } = await jobsStage();
    const ledger = new TransactionalMemory(stage.clock);
    return { stage, ledger, jobs: new Jobs({ ...ports, ledger }), tx: new MemoryTransaction() };
  }

  it('is there once it has committed, and nothing is handed to the queue here', async () => {
    const { stage, ledger, jobs, tx } = await transactional();
    const { runId, created } = await jobs.enqueueIn(tx, JOB, { to: 'ada' }, { idempotencyKey: 'a', delay: '1m' });
    expect(created).toBe(true);
    expect(await ledger.readRun(runId)).toBeNull();
    await tx.commit();
    expect(await ledger.readRun(runId)).toMatchObject({ state: 'claimed', payload: '{"to":"ada"}' });
    expect(stage.queue.taken).toEqual([]);
    expect(await jobs.enqueueIn(tx, JOB, { to: 'ada' }, { idempotencyKey: 'a' })).toEqual({ runId, created: false });
    await expect(jobs.enqueueIn(tx, JOB, { to: 'ben' }, { idempotencyKey: 'a' })).rejects.toThrow(IdempotencyKeyError);
  });

  it('is refused with another payload also when the first is of the same open transaction', async () => {
    const { ledger, jobs, tx } = await transactional();
    const { runId } = await jobs.enqueueIn(tx, JOB, 1, { idempotencyKey: 'a' });
    ledger.triggerIn = async () => ({ verdict: 'exists', state: 'claimed' });
    await expect(jobs.enqueueIn(tx, JOB, 2, { idempotencyKey: 'a' })).rejects.toThrow(IdempotencyKeyError);
    expect(await jobs.enqueueIn(tx, JOB, 1, { idempotencyKey: 'a' })).toEqual({ runId, created: false });
  });

  it('needs a ledger that can', async () => {
    const { jobs } = await jobsStage();
    await expect(jobs.enqueueIn(new MemoryTransaction(), JOB)).rejects.toThrow(SetupError);
  });
});
