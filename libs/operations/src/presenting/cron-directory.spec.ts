import type { CatalogReading } from '@fencepost/ledger/catalog';
import { ManualClock } from '@fencepost/lease/testing';
import { beforeEach, expect, it } from 'vitest';
import { parseFence } from '@fencepost/lease';
import { CronDirectory } from './cron-directory.js';
import { START } from '../../../../test/support/audit-history.js';
import { OperatingStage } from '../../../../test/support/operating-stage.js';

const COUNT = 5_000;
let calls: Record<string, number>;
let directory: CronDirectory;
const clock = new ManualClock(START);

/** A store whose calls are counted. */
function counted<Store extends object>(store: Store): Store {
  return new Proxy(store, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]): unknown => {
        calls[String(name)] = (calls[String(name)] ?? 0) + 1;
        return Reflect.apply(member, target, args);
      };
    },
  });
}

beforeEach(async () => {
  calls = {};
  const stage = new OperatingStage();
  await stage.declare({ name: 'cron-0000' });
  const one = await stage.catalog.read();
  const [entry] = one.entries;
  if (!entry) throw new Error('Expected a cron.');
  const entries = Array.from({ length: COUNT }, (_, n) => {
    const name = `cron-${String(n).padStart(4, '0')}`;
    return { ...entry, definition: { ...entry.definition, name } };
  });
  const reading: CatalogReading = { ...one, entries };
  const catalog = { read: async () => reading };
  const leases = { inspect: async (names: readonly string[]) => names.map(() => null) };
  const reads = { catalog: counted(catalog), ledger: counted(stage.ledger), leases: counted(leases) };
  directory = new CronDirectory(reads, clock);
});

it('a page of 5,000 crons costs a bounded number of calls, and none for what was just looked at', async () => {
  const page = await directory.page({ sort: 'name', limit: 50 });
  expect([page.total, page.items.length, page.items[0]?.name]).toEqual([COUNT, 50, 'cron-0000']);
  expect(calls).toEqual({ read: 1, readCrons: 10, inspect: 10, runsIn: 10, newestRuns: 2, newestSkips: 1 });
  const second = await directory.page({ sort: 'name', limit: 50, cursor: page.next ?? '' });
  expect(second.items[0]?.name).toBe('cron-0050');
  await directory.counts();
  expect(calls).toEqual({ read: 1, readCrons: 10, inspect: 10, runsIn: 10, newestRuns: 4, newestSkips: 2 });
});

it('what was looked at two seconds ago, or was changed since, is read again', async () => {
  await directory.counts();
  await clock.advance(2_000);
  await directory.counts();
  expect(calls['read']).toBe(2);
  directory.forget();
  await directory.counts();
  expect(calls['read']).toBe(3);
});

it('where a look at all takes long, whoever looks again gets the one before, and the next look follows', async () => {
  const [stage, reads] = [new OperatingStage(), { count: 0 }];
  const read = async () => {
    reads.count += 1;
    await clock.advance(150);
    return stage.catalog.read();
  };
  const slow = new CronDirectory(
    { catalog: { read }, ledger: stage.ledger, leases: { inspect: async () => [] } },
    clock,
  );
  const look = async () => {
    await slow.page({ limit: 50 });
    return reads.count;
  };
  expect(await look()).toBe(1);
  await clock.advance(2_000);
  await look();
  await clock.advance(100);
  // A look takes at most a twentieth of the time.
  expect(reads.count).toBe(1);
  await clock.advance(750);
  expect([await look(), await look()]).toEqual([1, 1]);
  await clock.advance(100);
  expect(reads.count).toBe(2);
  slow.forget();
  expect(await look()).toBe(3);
  await clock.advance(11_000);
  expect(await look()).toBe(4);
});

it('only what is due, and held by nobody, is said to be unheld', async () => {
  const stage = new OperatingStage();
  const [due, held] = [{ name: 'due' }, { name: 'held' }];
  await stage.declare(due, held, { name: 'by-hand', expression: '@manual' }, { name: 'paused' });
  await stage.operator.pause('paused', { by: 'test', reason: 'a test' });
  const holding = { holder: 'scheduler-1/12345678', fence: parseFence('1'), remainingMs: 1_000 };
  const inspect = async (names: readonly string[]) => names.map((name) => (name === 'held' ? holding : null));
  const { catalog, ledger } = stage;
  const small = new CronDirectory({ catalog, ledger, leases: { inspect } }, clock);
  const { total, items } = await small.page({ state: 'unheld', limit: 50 });
  expect([total, items.map(({ name }) => name)]).toEqual([1, ['due']]);
});

it('of 20,000 crons a look asks about 5,000, and the next one about others; what is on a page is asked about for it', async () => {
  const stage = new OperatingStage();
  await stage.declare({ name: 'cron-00000' });
  const one = await stage.catalog.read();
  const [entry] = one.entries;
  if (!entry) throw new Error('Expected a cron.');
  const entries = Array.from({ length: 20_000 }, (_, n) => {
    const name = `cron-${String(n).padStart(5, '0')}`;
    return { ...entry, definition: { ...entry.definition, name } };
  });
  let now = one.readAt;
  const catalog = { read: async () => ({ ...one, readAt: (now += 1), entries }) };
  const asked: string[][] = [];
  const readCrons = (names: readonly string[]) => {
    asked.push([...names]);
    return stage.ledger.readCrons(names);
  };
  const ledger = new Proxy(stage.ledger, {
    get: (target, name) => {
      const member: unknown = name === 'readCrons' ? readCrons : Reflect.get(target, name);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
  const many = new CronDirectory(
    { catalog, ledger, leases: { inspect: async (names) => names.map(() => null) } },
    clock,
  );
  const look = async () => {
    asked.length = 0;
    await clock.advance(11_000);
    expect((await many.counts()).total).toBe(20_000);
    return asked.flat();
  };
  const [first, second] = [await look(), await look()];
  expect([first.length, second.length, new Set([...first, ...second]).size]).toEqual([5_000, 5_000, 10_000]);
  asked.length = 0;
  const page = await many.page({ sort: 'name', order: 'desc', limit: 50 });
  expect([page.total, page.items[0]?.name]).toEqual([20_000, 'cron-19999']);
  expect(asked.flat()).toHaveLength(50);
  const found = await many.page({ sort: 'name', search: 'cron-1999', limit: 3 });
  expect([found.total, found.items.map(({ name }) => name)]).toEqual([10, ['cron-19990', 'cron-19991', 'cron-19992']]);
});

it('moves a cron in a list that was sorted before when its health changes, and filters by its present health', async () => {
  const stage = new OperatingStage();
  await stage.declare({ name: 'a' }, { name: 'b' }, { name: 'c' });
  const { catalog, ledger } = stage;
  const small = new CronDirectory(
    { catalog, ledger, leases: { inspect: async (names) => names.map(() => null) } },
    clock,
  );
  const shown = async (state?: 'paused') => {
    small.forget();
    await clock.advance(2_000);
    return (await small.page({ state, limit: 50 })).items.map(({ name, health }) => `${name} ${health.state}`);
  };
  expect(await shown()).toEqual(['a healthy', 'b healthy', 'c healthy']);
  await stage.operator.pause('b', { by: 'test', reason: 'a test' });
  expect(await shown()).toEqual(['b paused', 'a healthy', 'c healthy']);
  expect(await shown('paused')).toEqual(['b paused']);
  await stage.operator.resume('b', { by: 'test', reason: 'a test' });
  expect(await shown()).toEqual(['a healthy', 'b healthy', 'c healthy']);
});
