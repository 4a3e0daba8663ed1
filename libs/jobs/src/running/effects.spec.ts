import { LeaseLostError, StaleFenceError } from '@fencepost/lease';
import { afterEach, describe, expect, it } from 'vitest';
import { RUN, RUN_LEASE_MS, WorkerStage } from '../../../../test/support/worker-stage.js';
import { EffectNameError, EffectResultError } from './errors.js';
import type { EffectContext } from './effect-options.js';
import type { RunContext } from './run-context.js';

let stage: WorkerStage;
afterEach(() => expect(stage.manual.pending).toBe(0));

/** What a handler meets: its value, or the error it threw. */
async function inHandler<T>(work: (run: RunContext) => Promise<T>): Promise<T> {
  let met: Promise<T> | undefined;
  await stage.deliver(async (run) => {
    met = work(run);
    await met.catch(() => {});
  });
  if (!met) throw new Error('Expected the handler to be called.');
  return met;
}

/** Every heartbeat is lost until the lease has run out, and another worker begins the run. */
async function takeOver() {
  stage.ledger.next('heartbeat', ...Array.from({ length: 9 }, () => 'fail' as const));
  await stage.manual.advance(RUN_LEASE_MS);
  return stage.takenOver();
}

class Receipt {
  constructor(readonly id: number) {}
}

describe('an effect', () => {
  it('is begun, carried out and recorded, in this order', async () => {
    stage = await WorkerStage.with();
    const order: unknown[] = [];
    stage.telemetry.listen((name) => void (name.startsWith('effect') && order.push(name)));
    expect(await inHandler((run) => run.effect('mail', () => void order.push('acted')))).toBeNull();
    expect(order).toEqual(['effect.beginning', 'effect.begun', 'acted', 'effect.acted', 'effect.finished']);
    expect(stage.events.of('effect.begun')).toMatchObject([{ effect: 'mail', unknown: false, attempt: 1 }]);
  });

  it('is given its fence, a key of its own, and the signal of its attempt', async () => {
    stage = await WorkerStage.with();
    let given: EffectContext | undefined;
    let run: RunContext | undefined;
    await inHandler((context) => {
      run = context;
      return context.effect('mail', (effect) => void (given = effect));
    });
    expect(given).toEqual({ fence: run?.fence, idempotencyKey: `${RUN}/mail`, signal: run?.signal });
  });

  it('that is known is not carried out again: its recorded result comes back', async () => {
    stage = await WorkerStage.with();
    let acted = 0;
    const once = (run: RunContext) => run.effect('mail', () => ({ sent: (acted += 1) }));
    await stage.deliver(async (run) => {
      await once(run);
      throw new Error('after the effect');
    });
    await stage.manual.advance(1_000);
    expect(await inHandler(once)).toEqual({ sent: 1 });
    expect(acted).toBe(1);
    expect(stage.events.of('effect.known')).toMatchObject([{ effect: 'mail', attempt: 2 }]);
  });

  it.each([
    ['nothing', undefined, null],
    ['a date', new Date(0), '1970-01-01T00:00:00.000Z'],
    ['an object', { a: [1, 'b', null] }, { a: [1, 'b', null] }],
    ['false', false, false],
    ['what is left out', { a: undefined, b: [null] }, { b: [null] }],
    ['an object without a prototype', Object.assign(Object.create(null) as object, { id: 7 }), { id: 7 }],
  ])('returns %s as a later attempt would get it', async (_what, result, expected) => {
    stage = await WorkerStage.with();
    expect(await inHandler((run) => run.effect<unknown>('mail', () => result))).toEqual(expected);
  });

  it.each([
    ['a bigint', 1n, /JSON can't carry it \(.*BigInt/],
    ['a circle', circle(), /JSON can't carry it \(.*circular/],
    ['a function', () => {}, /it is not data/],
    [
      'a map',
      { rows: [{ byId: new Map([[1, 2]]) }] },
      /JSON can't carry an instance of Map \(at result\.rows\[0\]\.byId\)/,
    ],
    ['a set', new Set([1]), /JSON can't carry an instance of Set \(at result\)/],
    ['bytes', { bytes: new Uint8Array(2) }, /JSON can't carry an instance of Uint8Array \(at result\.bytes\)/],
    ['an error', { error: new Error('no') }, /JSON can't carry an instance of Error \(at result\.error\)/],
    ['an entity', { rows: [new Receipt(7)] }, /JSON can't carry an instance of Receipt \(at result\.rows\[0\]\)/],
    [
      'nobody’s instance',
      Object.create(Object.create(Object.create(null) as object) as object),
      /an instance of a class/,
    ],
    ['a gap', { ids: [1, undefined] }, /JSON can't carry undefined \(at result\.ids\[1\]\)/],
    ['no number', { rate: Number.NaN }, /JSON can't carry NaN \(at result\.rate\)/],
    ['a method', { go: () => {} }, /JSON can't carry a function \(at result\.go\)/],
    ['too much', 'x'.repeat(64 * 1024), /larger than 64 KiB/],
  ])('says that it has happened when its result is %s and can not be recorded', async (_what, result, message) => {
    stage = await WorkerStage.with();
    const met = inHandler((run) => run.effect<unknown>('mail', () => result));
    await expect(met).rejects.toThrow(EffectResultError);
    await expect(met).rejects.toThrow(message);
    await expect(met).rejects.toThrow('The effect "mail" happened');
  });

  it('takes a result of exactly 64 KiB', async () => {
    stage = await WorkerStage.with();
    const result = 'x'.repeat(64 * 1024 - 2);
    expect(await inHandler((run) => run.effect('mail', () => result))).toBe(result);
  });

  it('refuses a name that an effect can not have, and one used before in this attempt', async () => {
    stage = await WorkerStage.with();
    for (const name of ['', 'x'.repeat(201), 'a\0b', 7 as never]) {
      await stage.deliver(async (run) => {
        await expect(run.effect(name, () => {})).rejects.toThrow(EffectNameError);
        throw new Error('once more');
      });
      await stage.manual.advance(60_000);
    }
    stage = await WorkerStage.with();
    await inHandler(async (run) => {
      await run.effect('mail', () => {});
      await expect(run.effect('mail', () => {})).rejects.toThrow(
        `Expected a name not yet used in this attempt as the name of an effect of run "${RUN}", got "mail".`,
      );
    });
  });

  it('hands on what its act throws, and is recorded as one that has not happened', async () => {
    stage = await WorkerStage.with();
    const met = inHandler((run) => run.effect('mail', () => Promise.reject(new Error('refused by the server'))));
    await expect(met).rejects.toThrow('refused by the server');
    expect(await stage.memoryLedger.effects(RUN)).toMatchObject([
      { name: 'mail', state: 'failed', error: 'Error: refused by the server' },
    ]);
    expect(stage.events.of('effect.failed')).toMatchObject([
      { effect: 'mail', err: { message: 'refused by the server' } },
    ]);
  });

  it.each(['fail', 'lose-reply'] as const)(
    'is begun in the end when the store is away for a moment: %s',
    async (mishap) => {
      stage = await WorkerStage.with();
      stage.ledger.next('beginEffect', mishap, mishap);
      const met = inHandler((run) => run.effect('mail', () => 'sent', { ifUnknown: 'ask' }));
      await stage.manual.advance(RUN_LEASE_MS / 2);
      expect(await met).toBe('sent');
    },
  );

  it('is recorded in the end when the store is away for a moment: acting twice would be worse than waiting', async () => {
    stage = await WorkerStage.with();
    let acted = 0;
    stage.ledger.next('finishEffect', 'fail', 'lose-reply');
    const met = inHandler((run) => run.effect('mail', () => (acted += 1)));
    await stage.manual.advance(RUN_LEASE_MS / 2);
    expect(await met).toBe(1);
    expect(acted).toBe(1);
    expect(stage.events.of('store.failed')).toMatchObject([{ operation: 'effect.finish' }, {}]);
  });
});

describe('a stale attempt', () => {
  it('begins no effect once it knows: its signal is the reason', async () => {
    stage = await WorkerStage.with();
    let acted = 0;
    const met = inHandler(async (run) => {
      await takeOver();
      stage.ledger.calls.length = 0;
      await run.effect('mail', () => (acted += 1));
    });
    await expect(met).rejects.toThrow(LeaseLostError);
    expect([acted, stage.ledger.calls.includes('beginEffect')]).toEqual([0, false]);
  });

  it('is refused by the ledger when it does not know, hears of it, and begins nothing after that', async () => {
    stage = await WorkerStage.with();
    let acted = 0;
    let signal: AbortSignal | undefined;
    const disposition = stage.deliver(async (run) => {
      signal = run.signal;
      await stolen();
      await expect(run.effect('mail', () => (acted += 1))).rejects.toThrow(StaleFenceError);
      await expect(run.effect('post', () => (acted += 1))).rejects.toThrow(StaleFenceError);
      throw signal.reason;
    });
    expect(await disposition).toEqual({ kind: 'settled' });
    expect(acted).toBe(0);
    expect(stage.ledger.calls.filter((call) => call === 'beginEffect')).toHaveLength(1);
    expect(stage.events.of('attempt.refused')).toMatchObject([{ step: 'effect' }]);
    expect(stage.events.of('attempt.aborted')).toHaveLength(1);
    expect(stage.ledger.calls).not.toContain('finish');
  });
});

describe('an effect that an earlier attempt began', () => {
  it('brings what that one reports in the end, when it is faster: a done is never overwritten', async () => {
    stage = await WorkerStage.with();
    const request = { runId: RUN, nonce: 'first', worker: 'other/1', ttlMs: RUN_LEASE_MS, maxAttempts: 9 };
    const begun = await stage.memoryLedger.begin(request);
    if (begun.verdict !== 'begun') throw new Error('Expected the first attempt to begin.');
    const first = { runId: RUN, fence: begun.fence, nonce: 'first' };
    await stage.memoryLedger.beginEffect(first, { name: 'mail', ifUnknown: 'go' });
    await stage.manual.advance(RUN_LEASE_MS);
    const met = inHandler((run) =>
      run.effect('mail', async () => {
        const done = { kind: 'done', result: '"sent by the first"' } as const;
        expect(await stage.memoryLedger.finishEffect(first, 'mail', done)).toBe('late');
        return 'sent by the second';
      }),
    );
    expect(await met).toBe('sent by the first');
    expect(stage.events.of('effect.known')).toHaveLength(1);
    expect(stage.events.of('effect.finished')).toEqual([]);
  });
});

/** The ledger gives the run to another attempt while this one still believes in its lease. */
async function stolen(): Promise<void> {
  stage.manual.jumpWall(RUN_LEASE_MS);
  const request = { runId: RUN, nonce: 'other', worker: 'other/1', ttlMs: 60_000, maxAttempts: 9 };
  expect(await stage.memoryLedger.begin(request)).toMatchObject({ verdict: 'begun' });
  stage.manual.jumpWall(-RUN_LEASE_MS);
}

function circle(): object {
  const self: Record<string, unknown> = {};
  self['self'] = self;
  return self;
}
