import { afterEach, describe, expect, it } from 'vitest';
import { answer, gate, inHandler, lostAttempt } from './effect.stage.js';
import { RUN, START, WorkerStage } from '../../../../test/support/worker-stage.js';
import type { LookupAnswer, LookupContext, ForEachOptions } from './effect-options.js';
import { EffectUnresolvedError } from './errors.js';
import type { RunContext } from './run-context.js';

let stage: WorkerStage;
afterEach(() => expect(stage.manual.pending).toBe(0));

const keys = (count: number) => Array.from({ length: count }, (_, n) => `k${n}`);
const self = (key: string) => key;

/** An act that notes what it was called with. */
function noting() {
  const called: string[] = [];
  return { called, act: (key: string) => void called.push(key) };
}

async function states() {
  const items = await stage.memoryLedger.items(RUN, 'items');
  return Object.fromEntries(items.map(({ key, state }) => [key, state]));
}

/** An attempt that began these items and is gone. */
async function lost(...begun: string[]) {
  stage = await WorkerStage.with();
  await lostAttempt(stage, (attempt) => stage.memoryLedger.advanceItems(attempt, 'items', { finished: [], begun }));
}

describe('an item that a lost attempt began', () => {
  it('is asked about under "ask" when the others are done, and goes on as it is answered', async () => {
    await lost('k1');
    const { called, act } = noting();
    const handle = (run: RunContext) => run.forEach(keys(3), self, act, { ifUnknown: 'ask' });
    const met = inHandler(stage, handle);
    await expect(met).rejects.toThrow('the item "k1" of "items"');
    expect(called).toEqual(['k0', 'k2']);
    const unresolvedEffect = { effect: 'items', item: 'k1', unknownReason: 'lost', since: START };
    expect(await stage.memoryLedger.readRun(RUN)).toMatchObject({ state: 'uncertain', unresolvedEffect });
    await answer(stage, { verdict: 'not-done' });
    expect(await inHandler(stage, handle)).toEqual({ done: 1, failed: 0, skipped: 2 });
    expect(called).toEqual(['k0', 'k2', 'k1']);
  });

  it.each<{
    readonly what: string;
    readonly given: LookupAnswer<unknown>;
    readonly expected: string[];
    readonly state: string;
  }>([
    { what: 'has happened', given: { done: null }, expected: ['k0'], state: 'done' },
    { what: 'has not happened', given: 'not-done', expected: ['k0', 'k1'], state: 'done' },
    { what: 'may have happened', given: 'unknown', expected: ['k0'], state: 'begun' },
  ])('and by its lookup $what is treated so', async ({ given, expected, state }) => {
    await lost('k1');
    const { called, act } = noting();
    const about: LookupContext[] = [];
    const ifUnknown = (context: LookupContext) => {
      about.push(context);
      return given;
    };
    await inHandler(stage, (run) => run.forEach(keys(2), self, act, { ifUnknown })).catch(() => {});
    expect(called).toEqual(expected);
    expect(about).toMatchObject([{ idempotencyKey: `${RUN}/items/k1`, since: new Date(START) }]);
    expect(await states()).toEqual({ k0: 'done', k1: state });
    expect(await stage.state()).toBe(state === 'done' ? 'succeeded' : 'uncertain');
  });

  it('is left for the next attempt if its lookup throws', async () => {
    await lost('k1');
    const ifUnknown = () => Promise.reject(new Error('503'));
    const met = inHandler(stage, (run) => run.forEach(keys(2), self, () => {}, { ifUnknown }));
    await expect(met).rejects.toMatchObject({ failed: ['k1'] });
    expect(await states()).toEqual({ k0: 'done', k1: 'begun' });
  });
});

describe('an item that does not come back in time', () => {
  async function hanging(options: ForEachOptions) {
    stage = await WorkerStage.with();
    const { opened, open } = gate<void>();
    const called: string[] = [];
    const act = (key: string) => {
      called.push(key);
      return key === 'k1' ? opened : undefined;
    };
    const work = (run: RunContext) => run.forEach(keys(4), self, act, { timeout: '1s', batchSize: 3, ...options });
    const met = inHandler(stage, work).catch((error: unknown) => error);
    await stage.manual.advance(1_000);
    return { met, open, called };
  }

  it('is left to the next attempt under "retry", and the others go on', async () => {
    const { met, called } = await hanging({});
    expect(await met).toMatchObject({ failed: ['k1'], cause: { code: 'EFFECT_UNKNOWN' } });
    expect(called).toEqual(keys(4));
    expect(await states()).toMatchObject({ k0: 'done', k1: 'begun', k2: 'done', k3: 'done' });
  });

  it('is asked about under "ask": nothing more begins, and what was not called is nobody\'s question', async () => {
    const { met, called } = await hanging({ ifUnknown: 'ask' });
    expect(await met).toBeInstanceOf(EffectUnresolvedError);
    expect(called).toEqual(['k0', 'k1']);
    expect(await states()).toEqual({ k0: 'done', k1: 'begun', k2: 'failed' });
    expect(await stage.memoryLedger.readRun(RUN)).toMatchObject({
      unresolvedEffect: { item: 'k1', unknownReason: 'timeout' },
    });
  });

  it('is looked up, and what has not happened is done by the next attempt', async () => {
    const { met } = await hanging({ ifUnknown: () => 'not-done' });
    expect(await met).toMatchObject({ failed: ['k1'] });
    expect(await states()).toMatchObject({ k1: 'failed', k3: 'done' });
  });
});

describe('an attempt that is aborted in a forEach', () => {
  it('begins no other item, and records what has ended and what was not called', async () => {
    stage = await WorkerStage.with();
    const queue = new AbortController();
    const called: string[] = [];
    const act = (key: string) => {
      called.push(key);
      if (key === 'k1') queue.abort(new Error('the worker stops'));
    };
    const handle = (run: RunContext) => run.forEach(keys(9), self, act, { batchSize: 3 });
    expect(await stage.deliver(handle, { signal: queue.signal })).toMatchObject({ kind: 'later' });
    expect(called).toEqual(['k0', 'k1']);
    expect(await states()).toEqual({ k0: 'done', k1: 'done', k2: 'failed' });
    expect(stage.events.of('attempt.failed')).toMatchObject([{ err: { message: 'the worker stops' } }]);
  });
});
