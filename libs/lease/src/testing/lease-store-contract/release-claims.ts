import assert from 'node:assert/strict';
import { assertAcquirable, assertFree, eventually } from './expectations.js';
import type { Claims } from './stage.js';

export const RELEASE: Claims = {
  'frees the resource at once': async ({ store, win }) => {
    assert.deepEqual(await store.release([await win()]), [true]);
    await assertAcquirable(store, 'r');
  },

  'changes nothing for a stale holder, and says so': async ({ store, win, winAndExpire }) => {
    const stale = await winAndExpire();
    await win({ holder: 'pod/2' });
    assert.deepEqual(await store.release([stale]), [false]);
    assert.equal((await store.inspect(['r']))[0]?.holder, 'pod/2');
  },

  'that comes again changes nothing, also when somebody else holds the resource by then': async ({ store, win }) => {
    const term = await win();
    assert.deepEqual(await store.release([term]), [true]);
    assert.deepEqual(await store.release([term]), [false]);
    const successor = await win({ holder: 'pod/2' });
    assert.deepEqual(await store.release([term]), [false]);
    assert.equal((await store.inspect(['r']))[0]?.fence, successor.fence);
  },

  'ends a term whose ttl was changed': async ({ store, win }) => {
    const term = await win();
    await store.renew([term], 5_000);
    assert.deepEqual(await store.release([term]), [true]);
    await assertFree(store, 'r');
  },

  'ends a term once that stands in the batch twice': async ({ store, win }) => {
    const term = await win();
    const answers = await store.release([term, term]);
    // Which of the two ended it is a store's own affair: some ask for all of them at once.
    assert.deepEqual([answers.length, answers.filter(Boolean).length], [2, 1]);
  },

  'answers a mixed batch in the order given': async ({ store, win }) => {
    const first = await win({ resource: 'a' });
    const last = await win({ resource: 'c' });
    const unknown = { resource: 'b', nonce: 'n' };
    assert.deepEqual(await store.release([first, unknown, last]), [true, false, true]);
    assert.deepEqual(await store.release([first, unknown, last]), [false, false, false]);
    assert.deepEqual(await store.release([]), []);
  },
};

/** The hint that lets the next one in within milliseconds. */
export const ANNOUNCEMENTS: Claims = {
  'is announced, unless it was a stale one': async ({ store, win }) => {
    const announced: string[] = [];
    const stop = await store.watchReleases((resource) => void announced.push(resource));
    await win({ resource: 'held' });
    await store.release([{ resource: 'held', nonce: 'stale' }]);
    await store.release([await win({ resource: 'freed' })]);
    await eventually('a release is announced', () => announced.includes('freed'));
    await stop();
    assert.deepEqual(announced, ['freed']);
  },

  'is announced to every watcher, under the name it was acquired by': async ({ store, win }) => {
    const heard: string[][] = [[], []];
    const stops = await Promise.all(heard.map((list) => store.watchReleases((resource) => void list.push(resource))));
    await store.release([await win({ resource: 'größe:1' }), await win({ resource: 'b' })]);
    await eventually('both watchers have heard of both', () => heard.every(({ length }) => length === 2));
    await Promise.all(stops.map((stop) => stop()));
    for (const list of heard) assert.deepEqual(new Set(list), new Set(['größe:1', 'b']));
  },

  'is announced to everybody, whatever a watcher throws': async ({ store, win }) => {
    const heard: string[] = [];
    // The store may warn of it, and must not let it end the process or the connection.
    const stops = [
      await store.watchReleases((resource) => {
        heard.push(`throws: ${resource}`);
        throw new Error('thrown on purpose by a test: a watcher that fails harms nobody');
      }),
      await store.watchReleases((resource) => void heard.push(resource)),
    ];
    for (let n = 0; n < 2; n++) assert.deepEqual(await store.release([await win()]), [true]);
    await eventually('both have heard of both', () => heard.length === 4);
    await Promise.all(stops.map((stop) => stop()));
    assert.deepEqual(heard.toSorted(), ['r', 'r', 'throws: r', 'throws: r']);
  },

  'is not announced to a watcher that has stopped': async ({ store, win }) => {
    const late: string[] = [];
    const heard: string[] = [];
    const stopLate = await store.watchReleases((resource) => void late.push(resource));
    const stop = await store.watchReleases((resource) => void heard.push(resource));
    await stopLate();
    await store.release([await win()]);
    await eventually('the other watcher has heard', () => heard.length === 1);
    await stop();
    assert.deepEqual(late, []);
  },
};
