import { OperatorInputError } from '@fencepost/ledger';
import { describe, expect, it } from 'vitest';
import { HEALTH_STATES, type CronHealth } from '../operating/health-of.js';
import { CronOrder, type CronSorting, type Sortable } from './cron-order.js';

function cron(name: string, over: Partial<Sortable> & { readonly is?: Partial<CronHealth> } = {}): Sortable {
  const health: CronHealth = { state: 'healthy', since: null, failures: 0, text: '', ...over.is };
  return { name, history: null, next: null, ...over, health };
}

async function pages(crons: readonly Sortable[], sorting: CronSorting, limit: number): Promise<string[][]> {
  const order = new CronOrder(sorting);
  const found: string[][] = [];
  let cursor: string | undefined;
  do {
    const page = order.page(await order.sorted(crons), limit, cursor);
    found.push(page.shown.map(({ name }) => name));
    cursor = page.next ?? undefined;
  } while (cursor !== undefined);
  return found;
}

const lasting = (p95Ms: number) => ({ marks: [], duration: { p50Ms: 1, p95Ms }, startDelayP95Ms: p95Ms / 10 });

describe('the order of crons', () => {
  it('is that of what needs a person first: by state, failures, age, and name', async () => {
    const states = HEALTH_STATES.toReversed().map((state) => cron(state, { is: { state } }));
    expect(await pages(states, {}, 99)).toEqual([[...HEALTH_STATES]]);
    const failing = [
      cron('b', { is: { state: 'failing', failures: 2, since: 5 } }),
      cron('a', { is: { state: 'failing', failures: 2, since: 5 } }),
      cron('older', { is: { state: 'failing', failures: 2, since: 4 } }),
      cron('worse', { is: { state: 'failing', failures: 3, since: 9 } }),
    ];
    expect(await pages(failing, { sort: 'attention' }, 99)).toEqual([['worse', 'older', 'a', 'b']]);
  });

  it('has the slowest first, the soonest first, and what has no value last in either direction', async () => {
    const crons = [
      cron('none'),
      cron('fast', { history: lasting(10), next: 2 }),
      cron('slow', { history: lasting(500), next: 1 }),
    ];
    for (const sort of ['duration', 'delay'] as const) {
      expect(await pages(crons, { sort }, 99)).toEqual([['slow', 'fast', 'none']]);
      expect(await pages(crons, { sort, order: 'asc' }, 99)).toEqual([['fast', 'slow', 'none']]);
    }
    expect(await pages(crons, { sort: 'next' }, 99)).toEqual([['slow', 'fast', 'none']]);
    expect(await pages(crons, { sort: 'next', order: 'desc' }, 99)).toEqual([['fast', 'slow', 'none']]);
    expect(await pages(crons, { sort: 'name', order: 'desc' }, 99)).toEqual([['slow', 'none', 'fast']]);
  });

  it.each<CronSorting>([{}, { sort: 'name' }, { sort: 'name', order: 'desc' }, { sort: 'duration' }, { sort: 'next' }])(
    'is cut into pages that have each cron once: %j',
    async (sorting) => {
      const crons = Array.from({ length: 11 }, (_, n) =>
        cron(`cron-${n}`, n % 3 ? {} : { history: lasting(n), next: n }),
      );
      const found = await pages(crons, sorting, 4);
      expect(found.map(({ length }) => length)).toEqual([4, 4, 3]);
      expect(found.flat().toSorted()).toEqual(crons.map(({ name }) => name).toSorted());
    },
  );

  it('goes on behind a cron that is gone meanwhile', () => {
    const order = new CronOrder({ sort: 'name' });
    const crons = ['a', 'b', 'c'].map((name) => cron(name));
    const { next } = order.page(crons, 2, undefined);
    expect(order.page([cron('a'), cron('c')], 2, next ?? '').shown.map(({ name }) => name)).toEqual(['c']);
    expect(order.page([cron('a')], 2, next ?? '')).toEqual({ shown: [], next: null });
  });

  it.each([
    '',
    'nonsense',
    Buffer.from('["name desc",["a"],"a"]').toString('base64url'),
    Buffer.from('7').toString('base64url'),
  ])('refuses a cursor of another list: %j', (cursor) => {
    expect(() => new CronOrder({ sort: 'name' }).page([], 2, cursor)).toThrow(OperatorInputError);
  });
});
