import { afterEach, describe, expect, it } from 'vitest';
import { inHandler, lostAttempt } from './effect.stage.js';
import { RUN, RUN_LEASE_MS, START, WorkerStage } from '../../../../test/support/worker-stage.js';
import type { LookupContext } from './effect-options.js';
import { EffectUnresolvedError, EffectUnknownError } from './errors.js';
import { payloadHash } from './effect-options.js';
import type { RunContext } from './run-context.js';

let stage: WorkerStage;
afterEach(() => expect(stage.manual.pending).toBe(0));

/** An attempt that began the effect and is gone. */
async function lost(hash: string | null = null) {
  stage = await WorkerStage.with();
  return lostAttempt(stage, (attempt) =>
    stage.memoryLedger.beginEffect(attempt, { name: 'mail', ifUnknown: 'go', payloadHash: hash }),
  );
}

/** Counts its calls. */
function counted<T>(result: T) {
  const act = Object.assign(() => ((act.calls += 1), result), { calls: 0 });
  return act;
}

async function effect() {
  const [record] = await stage.memoryLedger.effects(RUN);
  return record && [record.state, record.result ?? record.error];
}

describe('an effect that a lost attempt began', () => {
  it('is carried out again under "retry"', async () => {
    await lost();
    const act = counted('sent');
    expect(await inHandler(stage, (run) => run.effect('mail', act, { ifUnknown: 'retry' }))).toBe('sent');
    expect([act.calls, await effect()]).toEqual([1, ['done', '"sent"']]);
    expect(stage.events.of('effect.begun')).toMatchObject([{ unknown: true }]);
  });

  it('is not carried out again under "ask": the run becomes uncertain, also when its handler lets nothing pass', async () => {
    await lost();
    const act = counted('sent');
    const met = inHandler(stage, (run) => run.effect('mail', act, { ifUnknown: 'ask' }));
    await expect(met).rejects.toThrow(EffectUnresolvedError);
    const unresolvedEffect = { effect: 'mail', item: null, unknownReason: 'lost', since: START };
    expect(await stage.memoryLedger.readRun(RUN)).toMatchObject({ state: 'uncertain', unresolvedEffect });
    expect([act.calls, await effect()]).toEqual([0, ['begun', null]]);
    expect(stage.events.of('attempt.uncertain')).toMatchObject([{ effect: 'mail', item: null, unknownReason: 'lost' }]);
    expect(stage.events.of('attempt.succeeded')).toEqual([]);
    expect(stage.log).toEqual([
      expect.stringContaining('warn 2 true EffectUnresolvedError: The outcome of the effect "mail" is unknown'),
    ]);
  });

  it.each([
    ['efficiency', 1],
    ['correctness', 0],
    [undefined, 1],
  ] as const)(
    'is by default repeated for efficiency and asked about for correctness: %s',
    async (criticality, calls) => {
      await lost();
      const act = counted('sent');
      const handler = criticality ? { criticality } : {};
      await inHandler(stage, (run) => run.effect('mail', act), handler).catch(() => {});
      expect(act.calls).toBe(calls);
      expect(await stage.state()).toBe(calls === 1 ? 'succeeded' : 'uncertain');
    },
  );

  it('is repeated while its provider remembers its key, and asked about after that', async () => {
    await lost();
    const act = counted('sent');
    const keyTtl = RUN_LEASE_MS;
    const met = inHandler(stage, (run) => run.effect('mail', act, { keyTtl }));
    await expect(met).rejects.toMatchObject({ unresolvedEffect: { unknownReason: 'key-expired', since: START } });
    expect([act.calls, await stage.state()]).toEqual([0, 'uncertain']);
    await lost();
    expect(await inHandler(stage, (run) => run.effect('mail', act, { keyTtl: keyTtl + 1 }))).toBe('sent');
  });

  it.each(['retry', 'ask', () => ({ done: 'sent' })] as const)(
    'and that has another payload now is asked about: %s',
    async (ifUnknown) => {
      await lost(payloadHash({ to: 'ada' }));
      const act = counted('sent');
      const met = inHandler(stage, (run) => run.effect('mail', act, { ifUnknown, payload: { to: 'bob' } }));
      await expect(met).rejects.toMatchObject({ unresolvedEffect: { unknownReason: 'payload-changed' } });
      expect([act.calls, await stage.state()]).toEqual([0, 'uncertain']);
    },
  );

  it('has the same payload with its keys in another order', async () => {
    await lost(payloadHash({ to: 'ada', cc: [{ b: 1, a: 2 }] }));
    const payload = { cc: [{ a: 2, b: 1 }], to: 'ada' };
    expect(await inHandler(stage, (run) => run.effect('mail', () => 'sent', { payload }))).toBe('sent');
  });
});

describe('an effect that is looked up', () => {
  it('is asked for with its key, its fence and its age', async () => {
    await lost();
    let about: LookupContext | undefined;
    const ifUnknown = (context: LookupContext) => {
      about = context;
      return { done: 'sent before' };
    };
    const fence = await inHandler(stage, async (run) => {
      await run.effect<string>('mail', () => expect.unreachable(), { ifUnknown });
      return run.fence;
    });
    expect(about).toMatchObject({ fence, idempotencyKey: `${RUN}/mail`, since: new Date(START), ageMs: RUN_LEASE_MS });
    expect(about?.signal.aborted).toBe(false);
  });

  it('is recorded with its result if the lookup says it happened', async () => {
    await lost();
    const act = counted('sent again');
    const ifUnknown = async () => ({ done: 'sent before' });
    expect(await inHandler(stage, (run) => run.effect('mail', act, { ifUnknown }))).toBe('sent before');
    expect([act.calls, await effect()]).toEqual([0, ['done', '"sent before"']]);
  });

  it('is begun again if the lookup says it did not happen', async () => {
    await lost();
    const act = counted('sent');
    expect(await inHandler(stage, (run) => run.effect('mail', act, { ifUnknown: () => 'not-done' }))).toBe('sent');
    expect(act.calls).toBe(1);
    expect(stage.events.of('effect.begun')).toMatchObject([{ unknown: false }]);
  });

  it('is left to an operator if the lookup does not know', async () => {
    await lost();
    const act = counted('sent');
    const met = inHandler(stage, (run) => run.effect('mail', act, { ifUnknown: () => 'unknown' }));
    await expect(met).rejects.toThrow(EffectUnresolvedError);
    expect([act.calls, await stage.state()]).toEqual([0, 'uncertain']);
  });

  it.each([
    ['throws', () => Promise.reject(new Error('503')), /its lookup failed \(Error: 503\)/],
    ['answers nonsense', () => 'done' as never, /Expected 'not-done', 'unknown' or \{ done: result \} .* got 'done'/],
  ])(
    'by one that %s is neither repeated nor asked about: the next attempt looks again',
    async (_what, ifUnknown, text) => {
      await lost();
      const act = counted('sent');
      let met: unknown;
      const handle = (run: RunContext) =>
        run.effect('mail', act, { ifUnknown }).catch((error: unknown) => {
          met = error;
          throw error;
        });
      expect(await stage.deliver(handle)).toMatchObject({ kind: 'later' });
      expect(met).toBeInstanceOf(EffectUnknownError);
      expect(met).toMatchObject({ message: expect.stringMatching(text) });
      expect([act.calls, await effect()]).toEqual([0, ['begun', null]]);
      await stage.manual.advance(60_000);
      expect(await inHandler(stage, (run) => run.effect('mail', act, { ifUnknown: () => ({ done: 'it was' }) }))).toBe(
        'it was',
      );
    },
  );
});

describe('an attempt that asks', () => {
  it('begins no other effect, and asks its first question', async () => {
    await lost();
    const act = counted('posted');
    await inHandler(stage, async (run) => {
      const first = run.effect('mail', () => 'sent', { ifUnknown: 'ask' });
      await expect(first).rejects.toThrow(EffectUnresolvedError);
      await expect(run.effect('post', act)).rejects.toThrow('the effect "mail"');
      await expect(run.forEach([1], String, act)).rejects.toThrow('the effect "mail"');
    });
    expect([act.calls, stage.events.of('effect.unresolved').length]).toEqual([0, 1]);
    expect(await stage.memoryLedger.effects(RUN)).toHaveLength(1);
  });
});
