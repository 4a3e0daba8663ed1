import { afterEach, describe, expect, it } from 'vitest';
import { RUN, RUN_LEASE_MS, standing, WorkerStage } from '../../../../test/support/worker-stage.js';
import { RunCancelledError } from './errors.js';
import type { TransactionalRunContext } from './run-context.js';

let stage: WorkerStage;
afterEach(() => expect(stage.manual.pending).toBe(0));

const BEAT_MS = RUN_LEASE_MS / 4;

async function cancel(graceMs = 30_000): Promise<void> {
  await stage.memoryLedger.cancel(RUN, { by: 'ada', graceMs });
}

/** A handler that stands still, and then ends as it is told to. */
function ending(how: (run: TransactionalRunContext) => unknown) {
  const { handle, goOn, signal } = standing();
  return {
    goOn,
    signal,
    handle: async (run: TransactionalRunContext) => {
      await handle(run);
      return how(run);
    },
  };
}

const fail = (error: unknown) => () => {
  throw error;
};

describe('a handler whose run is cancelled', () => {
  it('hears of it by its signal, once, with the next heartbeat', async () => {
    stage = await WorkerStage.with();
    const { handle, goOn, signal } = ending(() => {});
    const disposition = stage.deliver(handle);
    await stage.manual.advance(0);
    await cancel();
    await stage.manual.advance(BEAT_MS - 1);
    expect(signal().aborted).toBe(false);
    await stage.manual.advance(1);
    expect(signal().reason).toBeInstanceOf(RunCancelledError);
    expect(signal().reason).toMatchObject({ code: 'RUN_CANCELLED', message: expect.stringContaining(RUN) });
    await stage.manual.advance(BEAT_MS);
    expect(stage.events.of('attempt.aborted')).toHaveLength(1);
    goOn();
    await disposition;
  });

  it.each([
    ['the reason of its signal', (run: TransactionalRunContext) => run.signal.throwIfAborted()],
    ['something of its own', fail(new TypeError('half-way'))],
    ['no error at all', fail('stopped')],
  ])('and that ends with %s is finished as cancelled, and not tried again', async (_what, how) => {
    stage = await WorkerStage.with();
    const { handle, goOn } = ending(how);
    const disposition = stage.deliver(handle);
    await stage.manual.advance(0);
    await cancel();
    await stage.manual.advance(BEAT_MS);
    goOn();
    expect(await disposition).toEqual({ kind: 'settled' });
    const run = await stage.memoryLedger.readRun(RUN);
    expect(run).toMatchObject({ state: 'cancelled', error: expect.any(String), attempt: 1 });
    const [event] = stage.events.of('attempt.cancelled');
    expect(event).toMatchObject({ runId: RUN, attempt: 1 });
    expect(run?.error).toContain(event?.err.message);
    expect(stage.events.of('attempt.failed')).toEqual([]);
    expect(stage.log).toEqual([`warn 1 true cancelled; the handler threw ${run?.error}`]);
  });

  it('succeeds if it returns all the same', async () => {
    stage = await WorkerStage.with();
    const { handle, goOn } = ending(() => {});
    const disposition = stage.deliver(handle);
    await stage.manual.advance(0);
    await cancel();
    await stage.manual.advance(BEAT_MS);
    goOn();
    expect(await disposition).toEqual({ kind: 'settled' });
    expect(await stage.state()).toBe('succeeded');
  });

  it('can begin no effect any more, and one that it has begun is recorded', async () => {
    stage = await WorkerStage.with();
    const { handle, goOn } = standing();
    const disposition = stage.deliver(async (run) => {
      expect(await run.effect('mail', async () => handle(run))).toBeNull();
      await run.effect('invoice', () => expect.unreachable());
    });
    await stage.manual.advance(0);
    await cancel();
    await stage.manual.advance(BEAT_MS);
    goOn();
    await disposition;
    expect(await stage.state()).toBe('cancelled');
    expect(stage.events.of('effect.finished')).toMatchObject([{ effect: 'mail' }]);
  });
});
