import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { inHandler, lostAttempt } from './effect.stage.js';
import { RUN, WorkerStage } from '../../../../test/support/worker-stage.js';
import { EffectOptionError, EffectResultError } from './errors.js';
import type { RunContext } from './run-context.js';

let stage: WorkerStage;
afterEach(() => expect(stage.manual.pending).toBe(0));

describe('an option that can not be', () => {
  it.each([
    [
      { ifUnknown: 'retyr' },
      `Expected option ifUnknown of the effect "mail" to be 'retry', 'ask' or a function, got 'retyr'.`,
    ],
    [{ timeout: '8d' }, `to be a duration such as '30s' of at most '7d', or milliseconds from 1, got`],
    [{ timeout: 0 }, 'got 0.'],
    [{ keyTtl: 'a day' }, `got 'a day'.`],
    [{ keyTtl: -1 }, 'got -1.'],
    [{ schema: {} }, 'to be a Standard Schema, got'],
    [{ payload: 1n }, 'got 1n.'],
    [{ payload: () => {} }, 'to be plain data that JSON can carry'],
    [{ ifUnkown: 'ask' }, 'to be one of ifUnknown, keyTtl, payload, timeout, schema'],
    ['ask', `Expected option options of the effect "mail" to be an object, got 'ask'.`],
    [null, 'got null.'],
  ])('is told, and nothing is begun: %#', async (options, message) => {
    stage = await WorkerStage.with();
    let [acted, met] = [0, new Error('nothing was met')];
    const handle = async (run: RunContext) => {
      const effect = run.effect('mail', () => (acted += 1), options as never);
      met = await effect.then(() => met).catch((error: Error) => error);
      throw met;
    };
    expect(await stage.deliver(handle)).toMatchObject({ kind: 'failed', error: expect.any(EffectOptionError) });
    expect(met).toMatchObject({ code: 'EFFECT_OPTION', message: expect.stringContaining(message) });
    expect(acted).toBe(0);
    expect(stage.ledger.calls).not.toContain('beginEffect');
  });

  it.each([
    [{ batchSize: 0 }, 'Expected option batchSize of the items "items" to be a whole number from 1 to 1000, got 0.'],
    [{ concurrency: 1.5 }, 'got 1.5.'],
    [{ keyTtl: '1d' }, 'option "keyTtl"'],
  ])('of a forEach is told, and nothing is begun: %#', async (options, message) => {
    stage = await WorkerStage.with();
    const met = inHandler(stage, (run) => run.forEach([1], String, () => expect.unreachable(), options as never));
    await expect(met).rejects.toThrow(message);
    expect(stage.ledger.calls).not.toContain('advanceItems');
  });
});

describe('the schema of a result', () => {
  const schema = z.object({ sent: z.coerce.date() });

  it('says what the effect brings, the same now and in a later attempt', async () => {
    stage = await WorkerStage.with();
    const brought: unknown[] = [];
    const handle = async (run: RunContext) => {
      const { sent } = await run.effect('mail', () => ({ sent: new Date(0), more: 1 }), { schema });
      brought.push(sent.getTime());
      if (brought.length === 1) throw new Error('after the effect');
    };
    await stage.deliver(handle);
    await stage.manual.advance(1_000);
    await stage.deliver(handle);
    expect(brought).toEqual([0, 0]);
  });

  it('refuses a result before it is recorded: it has happened, and nobody says that it has not', async () => {
    stage = await WorkerStage.with();
    const met = inHandler(stage, (run) => run.effect('mail', () => ({ sent: 'soon' }), { schema }));
    await expect(met).rejects.toThrow(EffectResultError);
    await expect(met).rejects.toThrow(/"mail" happened, .* does not match its schema \(at sent: /);
    expect(await stage.memoryLedger.effects(RUN)).toMatchObject([{ state: 'begun' }]);
  });

  it('refuses a recorded result that it does not take', async () => {
    stage = await WorkerStage.with();
    await lostAttempt(stage, async (attempt) => {
      await stage.memoryLedger.beginEffect(attempt, { name: 'mail', ifUnknown: 'go' });
      await stage.memoryLedger.finishEffect(attempt, 'mail', { kind: 'done', result: '{"sent":"soon"}' });
    });
    const met = inHandler(stage, (run) => run.effect('mail', () => expect.unreachable(), { schema }));
    await expect(met).rejects.toThrow(/its recorded result does not match its schema: it does not match its schema/);
  });

  it('refuses what its lookup brings', async () => {
    stage = await WorkerStage.with();
    await lostAttempt(stage, (attempt) => stage.memoryLedger.beginEffect(attempt, { name: 'mail', ifUnknown: 'go' }));
    const ifUnknown = () => ({ done: { sent: 'soon' } });
    const met = inHandler(stage, (run) => run.effect('mail', () => ({ sent: '' }), { schema, ifUnknown }));
    await expect(met).rejects.toThrow(EffectResultError);
  });

  it('that throws takes nothing', async () => {
    stage = await WorkerStage.with();
    const validate = () => expect.fail('broken');
    const broken = { '~standard': { version: 1, vendor: 'test', validate } } as const;
    const met = inHandler(stage, (run) => run.effect('mail', () => 1, { schema: broken }));
    await expect(met).rejects.toThrow('broken');
  });
});

describe('a result with a key that objects have of themselves', () => {
  it('comes back as it was, and changes no other object', async () => {
    stage = await WorkerStage.with();
    const result: unknown = JSON.parse('{"__proto__":{"polluted":true},"constructor":1}');
    const back = await inHandler(stage, (run) => run.effect('mail', () => result));
    expect(JSON.stringify(back)).toBe(JSON.stringify(result));
    expect(Object.getPrototypeOf(back)).toBe(Object.prototype);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });
});
