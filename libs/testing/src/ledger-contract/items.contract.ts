import { beforeEach, describe, expect, it } from 'vitest';
import type { AttemptRef, ItemOutcome, ItemRecord, ItemsStep } from '@fencepost/ledger';
import { Stage, type MakeLedgerHarness } from './stage.js';

const ODD_KEYS = ['', ' ', 'two\nlines', 'a/b', '__proto__', 'constructor', '🦉 ü', '1/2', 'done 1 ', '%', '_'];

function done(...keys: string[]): ItemOutcome[] {
  return keys.map((key) => ({ key, kind: 'done' }));
}

function failed(...keys: string[]): ItemOutcome[] {
  return keys.map((key) => ({ key, kind: 'failed', error: `${key} broke` }));
}

/** How far a `forEach` has come, item by item. */
export function itemsContract(makeHarness: MakeLedgerHarness): void {
  let stage: Stage;
  let attempt: AttemptRef;
  beforeEach(async () => {
    stage = await Stage.of(makeHarness);
    attempt = await stage.begun(await stage.enqueued(1));
  });

  function advance(by: AttemptRef, step: Partial<ItemsStep>, effect = 'mails'): Promise<'recorded' | 'stale'> {
    return stage.ledger.advanceItems(by, effect, { finished: [], begun: [], ...step });
  }

  async function items(effect = 'mails'): Promise<ItemRecord[]> {
    const found = await stage.ledger.items(attempt.runId, effect);
    return found.toSorted((a, b) => (a.key < b.key ? -1 : 1));
  }

  async function states(effect = 'mails'): Promise<Record<string, string>> {
    return Object.fromEntries((await items(effect)).map(({ key, state }) => [key, state]));
  }

  describe('the items of a forEach', () => {
    it('are none before the first step, and for a run that nobody knows', async () => {
      expect(await items()).toEqual([]);
      expect(await stage.ledger.items(stage.idOf(9), 'mails')).toEqual([]);
    });

    it('are recorded as they begin and end, one step after the other', async () => {
      const before = await stage.harness.now();
      expect(await advance(attempt, { begun: ['a', 'b', 'c'] })).toBe('recorded');
      expect(await advance(attempt, { finished: [...done('a'), ...failed('b')], begun: ['d'] })).toBe('recorded');
      const since = expect.any(Number);
      const found = await items();
      expect(found).toEqual([
        { key: 'a', state: 'done', error: null, since },
        { key: 'b', state: 'failed', error: 'b broke', since },
        { key: 'c', state: 'begun', error: null, since },
        { key: 'd', state: 'begun', error: null, since },
      ]);
      for (const item of found) expect(item.since).toBeGreaterThanOrEqual(before);
    });

    it('are recorded five hundred at once', async () => {
      const keys = Array.from({ length: 500 }, (_, n) => `customer ${n}`);
      expect(await advance(attempt, { begun: keys })).toBe('recorded');
      expect(await advance(attempt, { finished: done(...keys) })).toBe('recorded');
      const found = await items();
      expect(found.map(({ key }) => key)).toEqual(keys.toSorted());
      expect(new Set(found.map(({ state }) => state))).toEqual(new Set(['done']));
    });

    it('are as they were when a step is sent again', async () => {
      const step = { finished: [...done('a'), ...failed('b')], begun: ['c', 'b'] };
      await advance(attempt, { begun: ['a', 'b'] });
      expect(await advance(attempt, step)).toBe('recorded');
      const before = await states();
      expect(await advance(attempt, step)).toBe('recorded');
      expect(await states()).toEqual(before);
      expect(before).toEqual({ a: 'done', b: 'begun', c: 'begun' });
      expect(await stage.refusals()).toBe(0);
    });

    it('stay begun when their worker is gone: the next attempt finds which are unknown, and since when', async () => {
      await advance(attempt, { begun: ['a', 'b'] });
      await advance(attempt, { finished: done('a') });
      const before = await items();
      const next = await stage.takeover(attempt);
      expect(await items()).toEqual(before);
      expect(await states()).toEqual({ a: 'done', b: 'begun' });
      await stage.harness.advance(2);
      await advance(next, { begun: ['b'] });
      expect(await items()).toEqual(before);
    });

    it('that are done stay done, whoever says what', async () => {
      await advance(attempt, { begun: ['a'] });
      await advance(attempt, { finished: done('a') });
      await advance(attempt, { finished: failed('a') });
      const next = await stage.takeover(attempt);
      await advance(next, { begun: ['a'] });
      await advance(next, { finished: failed('a'), begun: ['a'] });
      expect(await states()).toEqual({ a: 'done' });
    });

    it('keep keys that look like something else, under names that do', async () => {
      const names = ['mails', 'mails/', 'a/b', '__proto__', '1', '11', '🦉', 'ü'];
      for (const name of names) await advance(attempt, { begun: ODD_KEYS }, name);
      await advance(attempt, { finished: done('') }, 'mails');
      await advance(attempt, { finished: [{ key: '🦉 ü', kind: 'failed', error: ' it\nbroke ' }] }, '11');
      for (const name of names) {
        expect((await items(name)).map(({ key }) => key)).toEqual(ODD_KEYS.toSorted());
      }
      expect((await items()).filter(({ state }) => state !== 'begun')).toMatchObject([{ key: '', state: 'done' }]);
      const broken = (await items('11')).filter(({ state }) => state !== 'begun');
      expect(broken).toMatchObject([{ key: '🦉 ü', state: 'failed', error: ' it\nbroke ' }]);
    });
  });

  describe('a step of a stale attempt', () => {
    it('begins nothing, and says so', async () => {
      await advance(attempt, { begun: ['a'] });
      await stage.takeover(attempt);
      expect(await advance(attempt, { begun: ['b'] })).toBe('stale');
      expect(await states()).toEqual({ a: 'begun' });
      expect(await stage.refusals()).toBe(1);
    });

    it('is refused from an attempt and for a run that nobody knows', async () => {
      expect(await advance({ ...attempt, nonce: 'another' }, { begun: ['a'], finished: done('b') })).toBe('stale');
      expect(await advance({ ...attempt, runId: stage.idOf(9) }, { begun: ['a'], finished: done('b') })).toBe('stale');
      expect(await items()).toEqual([]);
    });

    it('has its dones kept as facts, and no failure', async () => {
      await advance(attempt, { begun: ['a', 'b', 'c'] });
      await stage.takeover(attempt);
      const late = { finished: [...done('a'), ...failed('b')], begun: ['d'] };
      expect(await advance(attempt, late)).toBe('stale');
      expect(await states()).toEqual({ a: 'done', b: 'begun', c: 'begun' });
    });

    it('has no done kept when it was never allowed to begin any', async () => {
      const next = await stage.takeover(attempt);
      await advance(next, { begun: ['a'] });
      expect(await advance(attempt, { finished: done('a') })).toBe('stale');
      expect(await states()).toEqual({ a: 'begun' });
    });

    it('begins nothing once its lease has expired, and its dones stand', async () => {
      await advance(attempt, { begun: ['a'] });
      await stage.lapse(attempt);
      expect(await advance(attempt, { finished: done('a'), begun: ['b'] })).toBe('stale');
      expect(await states()).toEqual({ a: 'done' });
    });

    it('has its dones kept also when the run is over, and changes nothing else of it', async () => {
      await advance(attempt, { begun: ['a'] });
      await stage.ledger.finish(attempt, { kind: 'failed', error: 'it broke' });
      const before = await stage.run(attempt.runId);
      expect(await advance(attempt, { finished: done('a'), begun: ['b'] })).toBe('stale');
      expect(await states()).toEqual({ a: 'done' });
      expect(await stage.run(attempt.runId)).toEqual(before);
    });
  });
}
