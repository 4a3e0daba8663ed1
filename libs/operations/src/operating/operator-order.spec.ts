import { describe, expect, it } from 'vitest';
import { OperatorInputError } from '@fencepost/ledger';
import { UnknownCronError } from '@fencepost/jobs/errors';
import { CRON } from '../../../../test/support/audit-history.js';
import { OperatingStage } from '../../../../test/support/operating-stage.js';

const ORDER = { by: 'ada', reason: 'a test' };

async function set() {
  const stage = new OperatingStage();
  await stage.declare({});
  return { stage, operator: stage.operator };
}

describe('an order that can’t be', () => {
  it.each<[string, (stage: OperatingStage) => Promise<unknown>, string]>([
    [
      'without who asks',
      ({ operator }) => operator.pause(CRON, { by: '', reason: 'r' }),
      "Expected by to be a text of 1 to 1000 characters, got ''.",
    ],
    ['without a reason', ({ operator }) => operator.resume(CRON, { by: 'ada', reason: ' ' }), 'Expected reason to be'],
    [
      'with an empty reason',
      ({ operator }) => operator.trigger(CRON, { by: 'ada', reason: '' }),
      'Expected reason to be',
    ],
    [
      'with a payload that JSON can’t carry',
      ({ operator }) => operator.trigger(CRON, { by: 'ada', payload: 1n }),
      'got 1n.',
    ],
    [
      'with a payload that is a function',
      ({ operator }) => operator.trigger(CRON, { by: 'ada', payload: () => 1 }),
      'plain data',
    ],
    [
      'with a payload that is too large',
      ({ operator }) => operator.trigger(CRON, { by: 'ada', payload: 'x'.repeat(65_536) }),
      '65536',
    ],
    ['with a time that is none', ({ operator }) => operator.pause(CRON, { ...ORDER, until: Number.NaN }), 'got NaN.'],
    [
      'with a grace that is none',
      ({ operator }) => operator.cancel('a@1', { ...ORDER, graceMs: -1 }),
      'Expected graceMs',
    ],
    [
      'with a run id that is none',
      ({ operator }) => operator.cancel('tick', ORDER),
      'Expected the run id to be one like',
    ],
  ])('%s is refused with one sentence, and changes nothing', async (_, ask, text) => {
    const { stage } = await set();
    const error = await ask(stage).then(
      () => null,
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(OperatorInputError);
    expect(error).toMatchObject({ code: 'OPERATOR_INPUT', message: expect.stringContaining(text) });
    expect((error as Error).message).toMatch(/^[^\n]+\.$/);
    expect(await stage.ledger.runs(CRON, 9)).toEqual([]);
    expect((await stage.ledger.readCron(CRON)).paused).toBeNull();
    expect(await stage.audit.list({ limit: 9 })).toEqual([]);
  });

  it('for a cron that is not there names those that are like it', async () => {
    const stage = new OperatingStage();
    await stage.declare({ name: 'nightly-report' }, { name: 'nightly-backup' }, { name: 'pulse' });
    const { operator } = stage;
    const orders = [
      operator.trigger('nightly-repotr', ORDER),
      operator.pause('nightly-repotr', ORDER),
      operator.resume('nightly-repotr', ORDER),
      operator.backfill('nightly-repotr', { ...ORDER, from: 0, to: 1 }),
    ];
    for (const order of orders) {
      const error: unknown = await order.catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(UnknownCronError);
      expect(error).toMatchObject({ code: 'CRON_UNKNOWN', cron: 'nightly-repotr' });
      expect((error as Error).message).toContain('Did you mean "nightly-report"');
      expect((error as Error).message).not.toContain('pulse');
    }
    await expect(operator.trigger('zzz', ORDER)).rejects.toThrow('Cron "zzz" not found.');
  });

  it('for a cron that was removed is refused: nobody would carry it out', async () => {
    const { stage, operator } = await set();
    await stage.declare({ name: 'another' });
    await expect(operator.trigger(CRON, ORDER)).rejects.toThrow(/"tick" was removed \(.+\), so no worker/);
    await expect(operator.backfill(CRON, { ...ORDER, from: 0, to: 1 })).rejects.toThrow(UnknownCronError);
    expect(await operator.pause(CRON, ORDER)).toMatchObject(ORDER);
  });
});
