import { beforeEach, expect, it } from 'vitest';
import { UnknownCronError } from '@fencepost/jobs/errors';
import type { Catalog } from '@fencepost/ledger/catalog';
import { CRON } from '../../../../test/support/audit-history.js';
import { OperatingStage } from '../../../../test/support/operating-stage.js';
import { CronDirectory } from '../presenting/cron-directory.js';
import { CronCatalog } from './cron-catalog.js';
import type { CronOperator } from './cron-operator.js';

const ORDER = { by: 'ana', reason: 'for the test' };

let stage: OperatingStage;
let operator: CronOperator;
let catalog: Pick<Catalog, 'read' | 'since' | 'put' | 'putMany' | 'remove' | 'removeMany'>;
/** The names of each reading; `null`: all there are. */
let readings: (readonly string[] | null)[];

beforeEach(async () => {
  stage = new OperatingStage();
  readings = [];
  const { catalog: all } = stage;
  catalog = {
    read(names) {
      readings.push(names ?? null);
      return all.read(names);
    },
    since(...from) {
      readings.push(null);
      return all.since(...from);
    },
    put: (...change) => all.put(...change),
    putMany: (...changes) => all.putMany(...changes),
    remove: (...change) => all.remove(...change),
    removeMany: (...changes) => all.removeMany(...changes),
  };
  operator = stage.operatorOf({ catalog });
  await stage.declare({}, { name: 'beside' });
  await stage.clock.advance(60_000);
  await stage.ran(1);
});

it.each<[string, () => Promise<unknown>]>([
  ['a pause', () => operator.pause(CRON, ORDER)],
  ['a resumption', () => operator.resume(CRON, { ...ORDER, missed: 'fire-once' })],
  ['a trigger', () => operator.trigger(CRON, ORDER)],
  ['a cancellation', () => operator.cancel(stage.idOf(1), ORDER)],
  [
    'the preview of a backfill',
    () => operator.backfill(CRON, { ...ORDER, from: stage.at(0), to: stage.at(9), dryRun: true }),
  ],
  ['an order to some', () => operator.orderMany({ ...ORDER, order: 'pause', crons: [CRON] })],
])('%s reads no cron but its own', async (_name, ask) => {
  await ask();
  expect(readings.length).toBeGreaterThan(0);
  for (const names of readings) expect(names).toEqual([CRON]);
});

it('a look at one cron, and a change of it, read no other one', async () => {
  const crons = new CronCatalog({
    catalog,
    clock: stage.clock,
    pods: { look: async () => ({ now: 0, bornAt: 0, pods: [], revisions: [] }) },
  });
  await crons.get(CRON);
  await crons.set(CRON, { expression: '0 4 * * *' }, ORDER);
  await crons.remove(CRON, ORDER);
  const leases = { inspect: async () => [null] };
  await new CronDirectory({ catalog, ledger: stage.ledger, leases }, stage.clock).detail(CRON);
  expect(new Set(readings.map((names) => names?.join()))).toEqual(new Set([CRON]));
});

it('only a name that is not there has all of them read, for those that are like it', async () => {
  await expect(operator.trigger(`${CRON}s`, ORDER)).rejects.toThrow(UnknownCronError);
  expect(readings).toEqual([[`${CRON}s`], null]);
});
