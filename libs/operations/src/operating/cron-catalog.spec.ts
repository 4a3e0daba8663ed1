import { describe, expect, it } from 'vitest';
import { CronDeclarationError } from '@fencepost/jobs/errors';
import { OperatorInputError } from '@fencepost/ledger';
import { CRON } from '../../../../test/support/audit-history.js';
import { OperatingStage } from '../../../../test/support/operating-stage.js';
import type { CronCatalog } from './cron-catalog.js';

const ORDER = { by: 'ada', reason: 'a test' };

describe('a cron that is made at run time', () => {
  it('is in the catalog as it was checked, with who made it and why', async () => {
    const { crons } = new OperatingStage();
    const entry = await crons.set(
      'reports',
      {
        expression: '0 3 * * *',
        timeZone: 'Europe/Berlin',
        grace: '5m',
        overlap: 'queue-one',
        handler: CRON,
        payload: [1],
      },
      ORDER,
    );
    expect(entry).toMatchObject({
      generation: 1,
      state: 'active',
      by: 'ada',
      reason: 'a test',
      app: null,
      revision: null,
      definition: { name: 'reports', graceMs: 300_000, overlap: 'queue-one', handler: CRON, payload: [1] },
    });
    expect(await crons.get('reports')).toEqual(entry);
    expect(await crons.list()).toEqual([entry]);
    expect(await crons.get('other')).toBeNull();
  });

  it.each<[string, Parameters<CronCatalog['set']>[1], string]>([
    ['expression', { expression: '61 * * * *' }, 'the minute field'],
    ['zone', { expression: '@daily', timeZone: 'Mars/Phobos' }, 'timeZone'],
    ['option', { expression: '@daily', grace: 'soon' }, 'grace'],
    ['word', { expression: '@daily', retry: {} } as never, 'retry'],
  ])('is refused for a wrong %s, as one in code is', async (_, settings, text) => {
    const { crons } = new OperatingStage();
    const error: unknown = await crons.set('reports', settings, ORDER).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(CronDeclarationError);
    expect((error as Error).message).toContain(text);
    expect(await crons.list()).toEqual([]);
  });

  it('may change one that is declared in code', async () => {
    const stage = new OperatingStage();
    await stage.declare({ graceMs: 5_000 });
    const changed = await stage.crons.set(CRON, { expression: '@hourly', disabled: true }, { by: 'ada' });
    expect(changed).toMatchObject({ generation: 2, state: 'disabled', reason: null, app: 'test' });
    expect(changed.definition).toMatchObject({ expression: '@hourly', graceMs: 5_000 });
    expect(changed.past).toMatchObject([{ generation: 1, state: 'active' }]);
  });

  it('is refused without who asks for it', async () => {
    const { crons } = new OperatingStage();
    await expect(crons.set('reports', { expression: '@daily' }, { by: '' })).rejects.toThrow(OperatorInputError);
    await expect(crons.set('reports', { expression: '@daily' }, { by: 'a', expected: 0.5 })).rejects.toThrow(
      'Expected expected to be a generation',
    );
  });
});
