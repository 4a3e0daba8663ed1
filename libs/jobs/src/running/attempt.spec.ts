import { afterEach, describe, expect, it } from 'vitest';
import { gate } from './effect.stage.js';
import { RUN, standing, WorkerStage } from '../../../../test/support/worker-stage.js';
import type { CronHandler } from './delivery.js';
import { AttemptTimeoutError } from './errors.js';
import type { RunContext } from './run-context.js';

let stage: WorkerStage;
afterEach(() => expect(stage.manual.pending).toBe(0));

const handler: Omit<CronHandler, 'handle' | 'retry'> = { timeoutMs: 8_000 };

describe('an attempt that takes longer than its job may', () => {
  it('is aborted, fails when its handler ends, and is retried', async () => {
    stage = await WorkerStage.with();
    const { handle, goOn, signal } = standing();
    const disposition = stage.deliver(
      async (run) => {
        await handle(run);
        run.signal.throwIfAborted();
      },
      { handler },
    );
    await stage.manual.advance(7_999);
    expect(signal().aborted).toBe(false);
    await stage.manual.advance(1);
    expect(signal().reason).toBeInstanceOf(AttemptTimeoutError);
    goOn();
    expect(await disposition).toMatchObject({ kind: 'later' });
    expect(stage.events.of('attempt.failed')).toMatchObject([
      { err: { message: expect.stringContaining('timed out after 8000 ms') } },
    ]);
  });

  it('succeeds if its handler returns within the grace', async () => {
    stage = await WorkerStage.with();
    const { handle, goOn } = standing();
    const disposition = stage.deliver(handle, { handler });
    await stage.manual.advance(9_999);
    goOn();
    expect(await disposition).toEqual({ kind: 'settled' });
    expect(await stage.state()).toBe('succeeded');
  });

  it('is abandoned after its grace if its handler never ends; later writes are stale', async () => {
    stage = await WorkerStage.with();
    const { opened, open } = gate<void>();
    let later: Promise<unknown> | undefined;
    const mailLater = async (run: RunContext) => {
      await opened;
      await run.effect('mail', () => expect.unreachable());
    };
    const handle = (run: RunContext) => (later = mailLater(run));
    const disposition = stage.deliver(handle, { handler });
    await stage.manual.advance(10_000);
    expect(await disposition).toMatchObject({ kind: 'later' });
    expect(await stage.memoryLedger.readRun(RUN)).toMatchObject({
      state: 'enqueued',
      error: expect.stringContaining('AttemptTimeoutError'),
    });
    open();
    await expect(later).rejects.toThrow(AttemptTimeoutError);
  });

  it("ends uncertain if it is abandoned inside an effect with ifUnknown: 'ask'", async () => {
    stage = await WorkerStage.with();
    const { opened, open } = gate<string>();
    const handle = (run: RunContext) => run.effect('mail', () => opened, { ifUnknown: 'ask' });
    const disposition = stage.deliver(handle, { handler, attempts: 1 });
    await stage.manual.advance(10_000);
    expect(await disposition).toEqual({ kind: 'settled' });
    expect(await stage.memoryLedger.readRun(RUN)).toMatchObject({
      state: 'uncertain',
      unresolvedEffect: { effect: 'mail', unknownReason: 'timeout' },
    });
    open('sent');
    await stage.manual.advance(0);
    expect(await stage.memoryLedger.effects(RUN)).toMatchObject([{ state: 'done', result: '"sent"' }]);
  });

  it('is cancelled if it was cancelled before', async () => {
    stage = await WorkerStage.with();
    const { handle, goOn } = standing();
    const disposition = stage.deliver(handle, { handler });
    await stage.manual.advance(0);
    await stage.memoryLedger.cancel(RUN, { by: 'ada', graceMs: 60_000 });
    await stage.manual.advance(10_000);
    expect(await disposition).toEqual({ kind: 'settled' });
    expect(await stage.state()).toBe('cancelled');
    expect(stage.events.of('attempt.aborted')).toMatchObject([{ cause: expect.stringContaining('RunCancelled') }]);
    goOn();
  });

  it('hears nothing when it is in time', async () => {
    stage = await WorkerStage.with();
    expect(await stage.deliver(() => {}, { handler })).toEqual({ kind: 'settled' });
    expect(stage.events.of('attempt.aborted')).toEqual([]);
  });
});

describe('the payload of a run', () => {
  it.each([
    ['at once', (payload: unknown) => ({ read: payload })],
    ['in the end', async (payload: unknown) => ({ read: payload })],
  ])('is what its handler makes of it %s', async (_when, readPayload) => {
    stage = await WorkerStage.with({ payload: '{"to":"ada"}' });
    let got: unknown;
    await stage.deliver(({ payload }) => void (got = payload), { handler: { readPayload } });
    expect(got).toEqual({ read: { to: 'ada' } });
  });

  it.each([
    ['throws', () => expect.fail('Expected a name.')],
    ['rejects', () => Promise.reject(new Error('Expected a name.'))],
  ])('fails the run for good when reading it %s, and the handler is not called', async (_what, readPayload) => {
    stage = await WorkerStage.with({ payload: '{}' });
    const disposition = await stage.deliver(() => expect.unreachable(), { handler: { readPayload } });
    expect(disposition).toMatchObject({ kind: 'failed', error: { code: 'PAYLOAD' } });
    expect(await stage.memoryLedger.readRun(RUN)).toMatchObject({
      state: 'failed',
      error: expect.stringContaining(
        `The payload of run "${RUN}" does not match the schema of its handler: Expected a name.`,
      ),
    });
  });
});
