import { describe, expect, it } from 'vitest';
import { definitionSet, isSameDeclaration, type EnrolmentHint } from '@fencepost/ledger/catalog';
import { cron, named, OTHER, type MakeCatalogHarness } from './stage.js';

const NAME = 'nightly-report';

/** How sets of definitions get their numbers. */
export function enrolmentContract(makeHarness: MakeCatalogHarness): void {
  const setOf = (names: readonly string[], app = 'shop', explicit: number | null = null) =>
    definitionSet({ app, explicit }, named(...names));

  describe('enrolling', () => {
    it('numbers each new set of an app in the order first seen, and gives a known set the number it had', async () => {
      const { catalog, elsewhere, now } = await makeHarness();
      const before = await now();
      expect(await catalog.revisions.enrol(setOf(['a', 'b']))).toBe(1);
      expect(await elsewhere.revisions.enrol(setOf(['a']))).toBe(2);
      expect(await elsewhere.revisions.enrol(setOf(['b', 'a']))).toBe(1);
      expect(await catalog.revisions.enrol(setOf([]))).toBe(3);
      expect(await catalog.revisions.enrol(setOf(['a'], 'mail'))).toBe(1);
      const known = await elsewhere.revisions.of('shop');
      expect(known).toMatchObject([{ revision: 1, explicit: null }, { revision: 2 }, { revision: 3 }]);
      expect(known[0]?.firstSeenAt).toBeGreaterThanOrEqual(before - 1_000);
      expect(await catalog.revisions.of('nobody')).toEqual([]);
    });

    it('takes the number that the app gives itself, and tells apart the sets that share it', async () => {
      const { catalog } = await makeHarness();
      const enrol = (names: readonly string[], explicit: number | null) =>
        catalog.revisions.enrol(setOf(names, 'shop', explicit));
      expect(await enrol(['a'], null)).toBe(1);
      expect(await enrol(['b'], 42)).toBe(42);
      expect(await enrol(['a'], 42)).toBe(42.01);
      expect(await enrol(['b'], 42)).toBe(42);
      expect(await enrol(['a'], 41)).toBe(41);
      expect(await enrol(['c'], null)).toBe(43);
      expect(await enrol(['a'], null)).toBe(1);
      const known = await catalog.revisions.of('shop');
      expect(known.map(({ revision, explicit }) => [revision, explicit])).toEqual([
        [1, null],
        [41, 41],
        [42, 42],
        [42.01, 42],
        [43, null],
      ]);
    });

    it('gives a set back the number that live pods know, and a new set one above', async () => {
      const { catalog, elsewhere } = await makeHarness();
      const enrol = (name: string, hint: EnrolmentHint) => catalog.revisions.enrol(setOf([name]), hint);
      expect(await enrol('new', { above: 7 })).toBe(8);
      expect(await elsewhere.revisions.enrol(setOf(['b']), { claimed: 7 })).toBe(7);
      expect(await enrol('a', { claimed: 42.01 })).toBe(42.01);
      expect(await enrol('b', { claimed: 3 })).toBe(7);
      // Another set has it now.
      expect(await enrol('c', { claimed: 7 })).toBe(43);
    });

    it('keeps the names of a set with the beginning of their hashes', async () => {
      const { catalog, elsewhere } = await makeHarness();
      const set = definitionSet({ app: 'a shop' }, [cron(), cron({ name: 'b' })]);
      const revision = await catalog.revisions.enrol(set);
      const [names, none] = await elsewhere.revisions.declaredBy('a shop', [revision, 99]);
      expect([...(names ?? [])].map(([name]) => name)).toEqual(['b', NAME]);
      expect(isSameDeclaration(set.crons.get('b') ?? '', names?.get('b') ?? '')).toBe(true);
      expect(
        isSameDeclaration(definitionSet({ app: 'a' }, [cron(OTHER)]).crons.get(NAME) ?? '', names?.get(NAME) ?? ''),
      ).toBe(false);
      expect(none).toBeNull();
      expect(await elsewhere.revisions.declaredBy('a shop', [])).toEqual([]);
      const empty = await catalog.revisions.enrol(setOf([], 'a shop'));
      expect(await elsewhere.revisions.declaredBy('a shop', [empty])).toEqual([new Map()]);
    });

    it('keeps the names of the sixteen newest sets, and those of an older one that is enrolled again', async () => {
      const { catalog } = await makeHarness();
      for (let n = 1; n <= 18; n += 1) await catalog.revisions.enrol(setOf([`cron-${n}`]));
      const kept = async () => {
        const sets = await catalog.revisions.declaredBy(
          'shop',
          Array.from({ length: 18 }, (_, n) => n + 1),
        );
        return sets.flatMap((names, n) => (names ? [n + 1] : []));
      };
      expect(await kept()).toEqual(Array.from({ length: 16 }, (_, n) => n + 3));
      expect(await catalog.revisions.enrol(setOf(['cron-1']))).toBe(1);
      expect((await kept())[0]).toBe(1);
    });

    it('gives many processes of two sets that start at once two numbers', async () => {
      const { catalog, elsewhere } = await makeHarness();
      const processes = Array.from({ length: 20 }, (_, n) => (n % 2 === 0 ? catalog : elsewhere));
      const numbers = await Promise.all(processes.map((at, n) => at.revisions.enrol(setOf([n % 2 === 0 ? 'a' : 'b']))));
      expect(new Set(numbers.filter((_, n) => n % 2 === 0)).size).toBe(1);
      expect(new Set(numbers)).toEqual(new Set([1, 2]));
    });
  });

  describe('a set of definitions', () => {
    it.each([-1, 0, 1.5, Number.NaN, 10_000_000_000])('refuses %d as its revision', (explicit) => {
      expect(() => setOf(['a'], 'shop', explicit)).toThrow(
        'Expected a revision that is a whole number from 1 to 9999999999',
      );
    });

    it('refuses an app without a name', () => {
      expect(() => setOf(['a'], '')).toThrow('The name of the declaring app is empty');
    });
  });
}
