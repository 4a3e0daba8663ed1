import { afterEach, describe, expect, it } from 'vitest';
import { gate, inHandler, lostAttempt } from './effect.stage.js';
import { RUN, WorkerStage } from '../../../../test/support/worker-stage.js';
import { EffectPayloadError, EffectTimeoutError, EffectUnknownError } from './errors.js';
import { payloadHash, type EffectOptions } from './effect-options.js';
import type { RunContext } from './run-context.js';

let stage: WorkerStage;
afterEach(() => expect(stage.manual.pending).toBe(0));

async function effect() {
  const [record] = await stage.memoryLedger.effects(RUN);
  return record && [record.state, record.result ?? record.error];
}

describe('an effect that does not come back in time', () => {
  async function hanging(options: EffectOptions<string>) {
    stage = await WorkerStage.with();
    const { opened, open, fail } = gate<string>();
    let signal: AbortSignal | undefined;
    const act = ({ signal: given }: { readonly signal: AbortSignal }) => {
      signal = given;
      return opened;
    };
    const met = inHandler(stage, (run) => run.effect('mail', act, { timeout: '1s', ...options })).then(
      (value) => value,
      (error: unknown) => error,
    );
    await stage.manual.advance(999);
    expect(signal?.aborted).toBe(false);
    await stage.manual.advance(1);
    expect(signal?.reason).toBeInstanceOf(EffectTimeoutError);
    return { met, open, fail };
  }

  it('has not failed under "retry": the next attempt may begin it again', async () => {
    const { met } = await hanging({});
    expect(await met).toMatchObject({ code: 'EFFECT_UNKNOWN', cause: expect.any(EffectTimeoutError) });
    expect(await effect()).toEqual(['begun', null]);
    expect(stage.events.of('effect.unknown')).toHaveLength(1);
  });

  it('is asked about at once under "ask"', async () => {
    const { met } = await hanging({ ifUnknown: 'ask' });
    expect(await met).toMatchObject({ code: 'EFFECT_ASKED', unresolvedEffect: { unknownReason: 'timeout' } });
    expect([await stage.state(), await effect()]).toEqual(['uncertain', ['begun', null]]);
  });

  it('is looked up at once: what it brought is its result', async () => {
    const { met } = await hanging({ ifUnknown: () => ({ done: 'sent before' }) });
    expect(await met).toBe('sent before');
    expect(await stage.state()).toBe('succeeded');
  });

  it('is looked up at once: what has not happened is left to the next attempt, for the call may still get through', async () => {
    const { met } = await hanging({ ifUnknown: () => 'not-done' });
    expect(await met).toMatchObject({ code: 'EFFECT_UNKNOWN' });
    expect(await effect()).toEqual(['failed', 'its lookup found that it did not happen']);
  });

  it('is looked up at once: what nobody knows is asked about', async () => {
    const { met } = await hanging({ ifUnknown: () => 'unknown' });
    expect(await met).toMatchObject({ code: 'EFFECT_ASKED', unresolvedEffect: { unknownReason: 'timeout' } });
  });

  it.each(['retry', 'ask'] as const)(
    'and comes back later is a fact that is kept, also when the attempt is over: %s',
    async (ifUnknown) => {
      const { met, open } = await hanging({ ifUnknown });
      await met;
      open('sent after all');
      await stage.manual.advance(0);
      expect(await effect()).toEqual(['done', '"sent after all"']);
      expect(stage.events.of('effect.late')).toMatchObject([{ effect: 'mail' }]);
    },
  );

  it("is reported if it returns later and its result can't be recorded", async () => {
    const { met, open } = await hanging({});
    await met;
    open(1n as never);
    await stage.manual.advance(0);
    expect(stage.events.of('effect.unrecorded')).toMatchObject([
      { err: { message: expect.stringContaining('BigInt') } },
    ]);
  });

  it('is in time when it comes back in time', async () => {
    stage = await WorkerStage.with();
    expect(await inHandler(stage, (run) => run.effect('mail', () => 'sent', { timeout: 1_000 }))).toBe('sent');
  });
});

describe('an effect whose act can not tell how it ended', () => {
  it.each([
    ['says so', () => new EffectUnknownError('the line went dead', { cause: new Error('ECONNRESET') })],
    ['was given up by a signal with a timeout', () => new DOMException('timed out', 'TimeoutError')],
  ])('because it %s is not recorded as failed, and is asked about', async (_what, error) => {
    stage = await WorkerStage.with();
    const act = () => Promise.reject(error());
    const met = inHandler(stage, (run) => run.effect('mail', act, { ifUnknown: 'ask' }));
    await expect(met).rejects.toMatchObject({ code: 'EFFECT_ASKED', cause: expect.any(Error) });
    expect([await stage.state(), await effect()]).toEqual(['uncertain', ['begun', null]]);
  });

  it('because its attempt was aborted has not failed', async () => {
    stage = await WorkerStage.with();
    const queue = new AbortController();
    const handle = (run: RunContext) =>
      run.effect('mail', ({ signal }) => {
        queue.abort(new Error('the worker stops'));
        return Promise.reject(signal.reason);
      });
    expect(await stage.deliver(handle, { signal: queue.signal })).toMatchObject({ kind: 'later' });
    expect(await effect()).toEqual(['begun', null]);
  });
});

describe('an effect that is done', () => {
  it('with another payload is refused for good', async () => {
    stage = await WorkerStage.with();
    await lostAttempt(stage, async (attempt) => {
      const request = { name: 'mail', ifUnknown: 'go', payloadHash: payloadHash('to ada') } as const;
      await stage.memoryLedger.beginEffect(attempt, request);
      await stage.memoryLedger.finishEffect(attempt, 'mail', { kind: 'done', result: '"sent"' });
    });
    const handle = (run: RunContext) => run.effect('mail', () => 'sent', { payload: 'to bob' });
    expect(await stage.deliver(handle)).toMatchObject({ kind: 'failed', error: expect.any(EffectPayloadError) });
  });
});

describe('an effect whose act throws', () => {
  it('has not happened, and is begun anew by the next attempt', async () => {
    stage = await WorkerStage.with();
    let acted = 0;
    const handle = (run: RunContext) =>
      run.effect('mail', () => {
        acted += 1;
        if (acted === 1) throw new Error('refused by the server');
      });
    await stage.deliver(handle);
    await stage.manual.advance(1_000);
    await stage.deliver(handle);
    expect(acted).toBe(2);
    expect(stage.events.of('effect.begun').map(({ unknown }) => unknown)).toEqual([false, false]);
  });
});
