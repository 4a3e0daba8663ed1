import { describe, expect, it } from 'vitest';
import type { UnresolvedEffectRef } from '@fencepost/ledger';
import { OperatorInputError } from '@fencepost/ledger';
import { UnknownCronError } from '@fencepost/jobs/errors';
import { CRON } from '../../../../test/support/audit-history.js';
import { asked, begin, ended, failedRuns, ORDER, uncertain } from './failed-runs.stage.js';
import { UnknownRunError } from './run-errors.js';
import type { ResolveOrder } from './run-operator.js';

describe('the lists of runs', () => {
  it('have what failed and what waits for an answer, of all crons, the latest first', async () => {
    const all = await failedRuns();
    const [first, second] = [await ended(all, 1), await ended(all, 2)];
    const asking = await uncertain(all, 3);
    expect((await all.runs.failed()).map(({ id }) => id).toSorted()).toEqual([first, second]);
    expect(await all.runs.uncertain()).toMatchObject([
      { id: asking, unresolvedEffect: { effect: 'mail', unknownReason: 'timeout' } },
    ]);
  });

  it('are of one cron where that is asked for, and no longer than that', async () => {
    const all = await failedRuns();
    await all.stage.declare({ overlap: 'allow' }, { name: 'other' });
    await ended(all, 1);
    await all.stage.clock.advance(1_000);
    const latest = await ended(all, 2);
    expect(await all.runs.failed({ cron: 'other' })).toEqual([]);
    expect(await all.runs.failed({ cron: CRON, limit: 1 })).toMatchObject([{ id: latest }]);
    expect(await all.runs.failed({ limit: 1 })).toMatchObject([{ id: latest }]);
  });

  it('are refused for a cron that is not there, and for a length that is none', async () => {
    const { runs } = await failedRuns();
    await expect(runs.failed({ cron: 'tock' })).rejects.toThrow(UnknownCronError);
    for (const limit of [0, 1.5, 1_001]) await expect(runs.uncertain({ limit })).rejects.toThrow(OperatorInputError);
  });
});

describe('the report of a run', () => {
  it('has its effects with what they brought, and says of which nobody knows', async () => {
    const all = await failedRuns();
    const runId = await uncertain(all, 1);
    const { run, effects, items, unresolvedEffect } = await all.runs.inspect(runId);
    expect(run).toMatchObject({ id: runId, state: 'uncertain' });
    expect(effects).toMatchObject([{ name: 'mail', state: 'begun', unknown: true, result: null }]);
    expect(items).toEqual({});
    expect(unresolvedEffect).toEqual({
      ...{
        effect: 'mail',
        item: null,
        unknownReason: 'timeout',
        since: all.stage.at(10),
        idempotencyKey: `${runId}/mail`,
      },
      why: expect.stringMatching(/^The effect "mail" was begun at 20\d\d-.+Z, and timed out/),
      advice: expect.stringContaining(`the idempotency key "${runId}/mail"`),
    });
  });

  it('has how far it came with the items it asks about', async () => {
    const all = await failedRuns();
    const runId = await uncertain(all, 1, 'c');
    const { items, unresolvedEffect } = await all.runs.inspect(runId);
    expect(items['mail']).toMatchObject({ done: 1, failed: 1, begun: 1, open: [{ key: 'b' }, { key: 'c' }] });
    expect(unresolvedEffect).toMatchObject({ item: 'c', idempotencyKey: `${runId}/mail/c` });
    expect((await all.runs.inspect(runId, ['mail', 'none'])).items).toEqual(items);
  });

  it('does not call unknown what a worker is still about', async () => {
    const all = await failedRuns();
    await all.stage.claim(1);
    const attempt = await begin(all, all.stage.idOf(1));
    await all.stage.ledger.beginEffect(attempt, { name: 'mail', ifUnknown: 'tell' });
    expect((await all.runs.inspect(attempt.runId)).effects).toMatchObject([{ state: 'begun', unknown: false }]);
  });

  it.each(['tick@5', 'tick', ''])('is refused for a run that is not there: %j', async (runId) => {
    const { runs } = await failedRuns();
    await expect(runs.inspect(runId)).rejects.toThrow(UnknownRunError);
  });
});

describe('an answer', () => {
  it('that it happened keeps what it brought, and the run goes on', async () => {
    const all = await failedRuns();
    const runId = await uncertain(all, 1);
    const order = { ...ORDER, ...(await asked(all, runId)), answer: 'done', result: { id: 7 } } as const;
    expect(await all.runs.resolve(runId, order)).toEqual({ runId, state: 'enqueued' });
    expect((await all.runs.inspect(runId)).effects).toMatchObject([{ state: 'done', result: { id: 7 } }]);
    expect(all.stage.queue.taken).toMatchObject([{ runId, delivery: 2 }]);
    const after = { state: 'enqueued', answer: 'done' };
    expect(await all.stage.audit.list({ limit: 1 })).toMatchObject([{ action: 'resolve', ...ORDER, runId, after }]);
    expect(await all.runs.uncertain()).toEqual([]);
  });

  it('is refused where nothing is asked any more', async () => {
    const all = await failedRuns();
    const runId = await uncertain(all, 1);
    const about = { ...ORDER, ...(await asked(all, runId)) };
    await all.runs.resolve(runId, { ...about, answer: 'not-done' });
    const again = all.runs.resolve(runId, { ...about, answer: 'done' });
    await expect(again).rejects.toThrow(`Run "${runId}" does not wait for an answer; it is enqueued`);
    await expect(all.runs.resolve(`${CRON}@7`, { ...about, answer: 'done' })).rejects.toThrow(UnknownRunError);
  });

  it.each<[string, Partial<UnresolvedEffectRef>]>([
    ['another attempt', { attempt: 2 }],
    ['another effect', { effect: 'charge' }],
    ['another item', { item: 'b' }],
    ['no item', { item: null }],
    ['another moment', { since: 7 }],
  ])('about %s than the one that asks is refused with what is asked now', async (_what, over) => {
    const all = await failedRuns();
    const runId = await uncertain(all, 1, 'c');
    const about = await asked(all, runId);
    const order = { ...ORDER, ...about, answer: 'done' } as const;
    await expect(all.runs.resolve(runId, { ...order, ...over })).rejects.toThrow(
      `Run "${runId}" now waits for the item "c" of "mail" (attempt 1, begun at ${new Date(about.since).toISOString()})`,
    );
    expect(await all.stage.ledger.readRun(runId)).toMatchObject({ state: 'uncertain' });
    expect(await all.runs.resolve(runId, order)).toMatchObject({ state: 'enqueued' });
  });

  it.each<[Partial<Record<keyof ResolveOrder, unknown>>, string]>([
    [{ answer: 'maybe' }, 'Expected answer to be "done", "not-done" or "give-up", got \'maybe\''],
    [{ answer: 'not-done', result: 1 }, 'The answer "not-done" takes no result'],
    [{ answer: 'done', result: 7n }, 'Expected result to be plain data'],
    [{ answer: 'done', by: '' }, 'Expected by to be a text'],
    [{ answer: 'done', attempt: undefined }, 'Expected attempt to be the attempt of the run that asks, got undefined'],
    [{ answer: 'done', effect: undefined }, 'Expected effect to be the name of the effect'],
    [{ answer: 'done', item: undefined }, 'Expected item to be the key of an item, or null for none'],
    [{ answer: 'done', since: undefined }, 'Expected since to be an instant'],
  ])('that can not be is refused before anything is asked: %o', async (over, sentence) => {
    const all = await failedRuns();
    const runId = await uncertain(all, 1);
    const order = { ...ORDER, ...(await asked(all, runId)), ...over } as ResolveOrder;
    await expect(all.runs.resolve(runId, order)).rejects.toThrow(sentence);
    expect(await all.stage.ledger.readRun(runId)).toMatchObject({ state: 'uncertain' });
  });
});
