import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { SetupError, StaleFenceError, parseFence, type LeaseEvent } from '@fencepost/lease';
import { sql } from '@fencepost/lease/postgres';
import { fencedSql, runFenced, transition } from '@fencepost/lease/sinks';

type Statement = ReturnType<typeof sql>;
type Options = Parameters<typeof fencedSql>[1];
type Written = Parameters<ReturnType<typeof fencedSql>['check']>[0];

/**
 * A database with two tables in it, by whatever client: `orders (id varchar, state varchar, fence bigint)` with the row
 * `('o1', 'new', NULL)`, and `jobs (id, status, version, note)` with the row `(1, 'READY', 7, 'kept')`.
 */
export interface SqlDialectHarness {
  readonly client: Parameters<typeof transition>[0];
  readonly schema?: string;
  write(statement: Statement): Promise<Written>;
  /** The rows, each column as text. */
  rows(statement: Statement): Promise<Record<string, string | null>[]>;
  close(): Promise<void>;
}

const STALE = { resource: 'order:1', fence: parseFence('9007199254740990') };
const NEWER = { resource: 'order:1', fence: parseFence('9007199254740991') };

/** What fenced statements and transitions do, in every dialect. */
export function sqlDialectContract(
  name: string,
  dialect: NonNullable<Options['dialect']>,
  makeHarness: () => Promise<SqlDialectHarness>,
): void {
  describe(`${name} keeps the contract of SQL sinks`, () => {
    let harness: SqlDialectHarness;
    beforeEach(async () => {
      harness = await makeHarness();
    });
    afterEach(() => harness.close());

    const observe = vi.fn<(event: LeaseEvent) => void>();
    beforeEach(() => observe.mockReset());
    const fencedBy = (lease: typeof STALE, options: Partial<Options> = {}) =>
      fencedSql(lease, { downstream: 'orders', dialect, observe, ...options });

    describe('a fenced statement', () => {
      const orders = () => harness.rows(sql`SELECT id, state, fence FROM orders ORDER BY id`);
      const update = async (lease: typeof STALE, state: string) => {
        const f = fencedBy(lease);
        return f.check(await harness.write(sql`UPDATE orders SET state = ${state}, ${f.set} WHERE ${f.condition}`));
      };
      const run = (lease: typeof STALE, id: string, from: string) => {
        const f = fencedBy(lease, { table: 'orders' });
        const own = sql`id = ${id} AND state = ${from}`;
        return runFenced(harness.client, f, {
          write: sql`UPDATE orders SET state = ${'x'}, ${f.set} WHERE ${own} AND ${f.condition}`,
          seen: sql`SELECT ${f.seen} FROM orders WHERE id = ${id}`,
        });
      };

      it('writes a row that nobody has fenced yet, again in the same term, and in a newer one', async () => {
        for (const [lease, state] of [
          [STALE, 'a'],
          [STALE, 'b'],
          [NEWER, 'c'],
        ] as const) {
          await update(lease, state);
          expect(await orders()).toEqual([{ id: 'o1', state, fence: `${lease.fence}` }]);
        }
      });

      it('counts as written where the row had the same values already', async () => {
        await update(NEWER, 'paid');
        await update(NEWER, 'paid');
        expect(await orders()).toEqual([{ id: 'o1', state: 'paid', fence: `${NEWER.fence}` }]);
        expect(await run({ ...NEWER }, 'o1', 'paid')).toMatchObject({ written: true });
        expect(await run({ ...NEWER }, 'o1', 'x')).toMatchObject({ written: true });
      });

      it('of a stale owner changes nothing and throws, also at the last fence there is', async () => {
        await update(NEWER, 'paid');
        await expect(update(STALE, 'late')).rejects.toThrow(StaleFenceError);
        expect(await orders()).toEqual([{ id: 'o1', state: 'paid', fence: `${NEWER.fence}` }]);
        expect(observe.mock.calls).toEqual([[{ name: 'fence.rejected', downstream: 'orders', ...STALE }]]);
      });

      it('tells why it changed no row: the two fences, no such row, or its own conditions', async () => {
        await update(NEWER, 'paid');
        await expect(run(STALE, 'o1', 'paid')).rejects.toThrow(
          `"order:1" refused fence ${STALE.fence}: the row was written under fence ${NEWER.fence}`,
        );
        expect(await run(NEWER, 'nowhere', 'paid')).toEqual({ written: false, because: 'missing' });
        expect(await run(NEWER, 'o1', 'new')).toEqual({ written: false, because: 'unmatched' });
      });

      it('leaves the row to the largest of twenty fences that write at once', async () => {
        const fences = Array.from({ length: 20 }, (_, n) => ((n * 7) % 20) + 1);
        const writing = fences.map((n) => update({ resource: 'order:1', fence: parseFence(`${n}`) }, `by ${n}`));
        const outcomes = await Promise.allSettled(writing);
        expect(await orders()).toEqual([{ id: 'o1', state: 'by 20', fence: '20' }]);
        const refusals = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
        expect(refusals.filter((reason) => !(reason instanceof StaleFenceError))).toEqual([]);
        expect(outcomes[fences.indexOf(20)]).toMatchObject({ status: 'fulfilled' });
      });

      it.skipIf(dialect === 'mysql')('is an upsert as well, in a dialect where that takes a condition', async () => {
        const upsert = async (lease: typeof STALE, state: string) => {
          const f = fencedBy(lease, { table: 'orders' });
          const changes = sql`state = EXCLUDED.state, ${f.setExcluded} WHERE ${f.conflictCondition}`;
          const row = sql`(${'o2'}, ${state}, ${f.value})`;
          const into = sql`INSERT INTO orders (id, state, fence) VALUES ${row}`;
          return f.check(await harness.write(sql`${into} ON CONFLICT (id) DO UPDATE SET ${changes}`));
        };
        await upsert(STALE, 'new');
        await upsert(NEWER, 'paid');
        await expect(upsert(STALE, 'late')).rejects.toThrow(StaleFenceError);
        expect((await orders())[1]).toEqual({ id: 'o2', state: 'paid', fence: `${NEWER.fence}` });
      });
    });

    describe('a transition', () => {
      const start = (over: Partial<Parameters<typeof transition>[1]> = {}) => {
        const { client, schema } = harness;
        const asked = { table: 'jobs', id: 1, from: 'READY', to: 'RUNNING', version: 7, ...over };
        return transition(client, { dialect, ...(schema !== undefined && { schema }), ...asked });
      };
      const jobs = () => harness.rows(sql`SELECT id, status, version, note FROM jobs ORDER BY id`);
      const READY = { id: '1', status: 'READY', version: '7', note: 'kept' };

      it('moves the row and counts its version up, with further columns from what the row was', async () => {
        const set = sql`note = replace(note, ${'kept'}, status)`;
        expect(await start({ set })).toEqual({ won: true, version: 8 });
        expect(await jobs()).toEqual([{ ...READY, status: 'RUNNING', version: '8', note: 'READY' }]);
      });

      it('is won by one of twenty who try at once, and tells the others what the winner wrote', async () => {
        const outcomes = await Promise.all(Array.from({ length: 20 }, () => start()));
        expect(outcomes.filter(({ won }) => won)).toEqual([{ won: true, version: 8 }]);
        const lost = { won: false, found: { status: 'RUNNING', version: 8 } };
        expect(outcomes.filter(({ won }) => !won)).toEqual(Array.from({ length: 19 }, () => lost));
      });

      it.each([
        ['another status', { from: 'RUNNING', to: 'DONE' }],
        ['an older version', { version: 6 }],
        ['a newer version', { version: 8 }],
      ])('from %s than the row has changes nothing', async (_what, over) => {
        expect(await start(over)).toEqual({ won: false, found: { status: 'READY', version: 7 } });
        expect(await jobs()).toEqual([READY]);
      });

      it('of a row that is not there finds nothing', async () => {
        expect(await start({ id: 3 })).toEqual({ won: false, found: null });
      });

      it('refuses what can not be a name before it asks', async () => {
        await expect(start({ columns: { status: '' } })).rejects.toThrow(SetupError);
        await expect(start({ table: '' })).rejects.toThrow(SetupError);
      });
    });
  });
}
