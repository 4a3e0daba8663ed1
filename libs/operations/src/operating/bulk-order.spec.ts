import { StoreAwayError } from '@fencepost/lease';
import { OperatorInputError } from '@fencepost/ledger';
import { UnknownCronError } from '@fencepost/jobs/errors';
import { beforeEach, describe, expect, it } from 'vitest';
import { OperatingStage } from '../../../../test/support/operating-stage.js';
import { SelectionMovedError } from './bulk-order.js';

const ASK = { by: 'anna', reason: 'a flood' };
const [a, b, c] = ['a', 'b', 'c'].map((name) => ({ name, tags: ['billing', `team-${name}`] })) as [
  object,
  object,
  object,
];

let stage: OperatingStage;
beforeEach(async () => {
  stage = new OperatingStage();
  await stage.declare(a, b, c, { name: 'other' });
});

const records = () => stage.audit.list({ limit: 10 });
const paused = async () => (await stage.operator.list()).filter((cron) => cron.paused !== null).map(({ name }) => name);

class Away extends StoreAwayError {
  readonly code = 'AWAY';
}

describe('an order to many crons', () => {
  it('shows first which crons it is about, and changes nothing', async () => {
    const report = await stage.operator.orderMany({ ...ASK, order: 'pause', tag: 'billing', dryRun: true });
    expect(report).toEqual({ order: 'pause', dryRun: true, crons: ['a', 'b', 'c'], done: [], failed: [] });
    expect([await paused(), await records()]).toEqual([[], []]);
  });

  it('pauses those with a tag, and leaves one record that names them', async () => {
    const report = await stage.operator.orderMany({ ...ASK, order: 'pause', tag: 'billing', expected: 3 });
    expect(report).toMatchObject({ done: ['a', 'b', 'c'], failed: [] });
    expect(await paused()).toEqual(['a', 'b', 'c']);
    expect(await records()).toMatchObject([
      {
        ...ASK,
        action: 'pause',
        cron: null,
        role: 'app',
        crons: ['a', 'b', 'c'],
        after: { tag: 'billing', failed: [] },
      },
    ]);
  });

  it('does nothing when other crons are meant than when somebody looked', async () => {
    const order = stage.operator.orderMany({ ...ASK, order: 'pause', tag: 'billing', expected: 4 });
    await expect(order).rejects.toThrow(SelectionMovedError);
    expect([await paused(), await records()]).toEqual([[], []]);
  });

  it('is about crons for which it means something', async () => {
    await stage.operator.pause('b', ASK);
    const preview = async (order: 'pause' | 'resume' | 'trigger') =>
      (await stage.operator.orderMany({ ...ASK, order, tag: 'billing', dryRun: true })).crons;
    expect([await preview('pause'), await preview('resume'), await preview('trigger')]).toEqual([
      ['a', 'c'],
      ['b'],
      ['a', 'b', 'c'],
    ]);
    await stage.operator.orderMany({ ...ASK, order: 'resume', tag: 'billing' });
    expect(await paused()).toEqual([]);
  });

  it('reports each refusal, and does the others', async () => {
    await stage.operator.trigger('b', ASK);
    const report = await stage.operator.orderMany({ ...ASK, order: 'trigger', crons: ['c', 'b', 'a', 'a'] });
    expect(report).toMatchObject({
      ...{ crons: ['a', 'b', 'c'], done: ['a', 'c'] },
      failed: [{ cron: 'b', code: 'STATE_CONFLICT', detail: 'The maximum of open runs is reached.' }],
    });
  });

  it('does not go on when the store does not answer any more, and says what was not tried', async () => {
    const names = Array.from({ length: 25 }, (_, n) => `cron-${String(n).padStart(2, '0')}`);
    await stage.declare(...names.map((name) => ({ name })));
    const { ledger } = stage;
    const pauses: string[] = [];
    const failing = new Proxy(ledger, {
      get: (target, name) => {
        if (name !== 'pause') return Reflect.get(target, name).bind?.(target) ?? Reflect.get(target, name);
        return async (...asked: Parameters<typeof ledger.pause>) => {
          pauses.push(asked[0]);
          if (asked[0] === 'cron-03') throw new Away('The store is away.');
          return ledger.pause(...asked);
        };
      },
    });
    const operator = stage.operatorOf({ ledger: failing });
    const { done, failed } = await operator.orderMany({ ...ASK, order: 'pause', crons: names });
    expect(pauses).toHaveLength(10);
    expect(done).toHaveLength(9);
    expect(failed).toHaveLength(16);
    expect(failed.map(({ code }) => code)).toEqual(['AWAY', ...Array.from({ length: 15 }, () => 'NOT_TRIED')]);
    expect(await records()).toMatchObject([{ action: 'pause', crons: [...done, 'cron-03'] }]);
  });

  it('is refused for a name that is not there, for too many, and for neither names nor a tag', async () => {
    const order = { ...ASK, order: 'pause' } as const;
    await expect(stage.operator.orderMany({ ...order, crons: ['a', 'nope'] })).rejects.toThrow(UnknownCronError);
    await expect(stage.operator.orderMany(order)).rejects.toThrow(OperatorInputError);
    await expect(stage.operator.orderMany({ ...order, crons: ['a'], tag: 'billing' })).rejects.toThrow(
      OperatorInputError,
    );
    const many = Array.from({ length: 1_001 }, (_, n) => ({ name: `many-${n}`, tags: ['many'] }));
    await stage.declare(...many);
    await expect(stage.operator.orderMany({ ...order, tag: 'many', dryRun: true })).rejects.toThrow(
      'at most 1000 crons',
    );
    expect(await paused()).toEqual([]);
  });
});
