import assert from 'node:assert/strict';
import type { Fence } from '../../base/fence.js';
import type { AcquireReply, AcquireRequest, LeaseStore } from '../../store/lease-store.js';
import { assertAcquirable, assertFree, eventually, listAll } from './expectations.js';
import { QUEUE } from './queue-claims.js';
import { SESSION_ACQUIRE } from './session-acquire-claims.js';
import { SESSION } from './session-claims.js';
import { SESSION_REVOKED, SESSION_TERM } from './session-term-claims.js';
import { request, TTL_MS, type Claims } from './stage.js';

/** Of stores that take many in one call. */
export const MANY: Claims = {
  'takes those that are free, says of each other one how long it is held, and keeps the order': async ({
    store,
    win,
  }) => {
    await win({ resource: 'b', holder: 'pod/2' });
    const asked = ['a', 'b', 'c'].map((resource) => request({ resource }));
    const [a, b, c] = await acquireMany(store, asked);
    assert.ok(a?.acquired && c?.acquired && b && !b.acquired);
    assert.ok(b.remainingMs > 0 && b.remainingMs <= TTL_MS);
    const holdings = await store.inspect(['a', 'b', 'c']);
    assert.deepEqual(
      holdings.map((holding) => holding?.holder),
      ['pod/1', 'pod/2', 'pod/1'],
    );
    assert.deepEqual([holdings[0]?.fence, holdings[2]?.fence], [a.fence, c.fence]);
  },

  'gives the same answers to the same nonces': async ({ store }) => {
    const asked = ['a', 'b'].map((resource) => request({ resource }));
    assert.deepEqual(await acquireMany(store, asked), await acquireMany(store, asked));
  },

  'issues a fence above the floor of each': async ({ store, win }) => {
    const { fence } = await win({ resource: 'x' });
    const floor = (fence + 1_000_000_000) as Fence;
    const [low, high] = await acquireMany(store, [request({ resource: 'a' }), request({ resource: 'b', floor })]);
    assert.ok(low?.acquired && high?.acquired && low.fence < floor && high.fence > floor);
  },

  'takes 1 100 in one call, and none in an empty one': async ({ store }) => {
    const asked = Array.from({ length: 1_100 }, (_, n) => request({ resource: `r${n}` }));
    const replies = await acquireMany(store, asked);
    assert.equal(replies.filter(({ acquired }) => acquired).length, 1_100);
    assert.deepEqual(await acquireMany(store, []), []);
  },
};

/** Of stores where a term can be ended by who doesn't hold it. */
export const EVICT: Claims = {
  'ends the term of this fence, whoever holds it: its next renewal is refused': async ({ store, win }) => {
    const term = await win();
    assert.equal(await evict(store, 'r', term.fence), true);
    await assertFree(store, 'r');
    assert.deepEqual(await store.renew([term], TTL_MS), [false]);
    const successor = await win({ holder: 'pod/2' });
    assert.ok(successor.fence > term.fence);
  },

  'changes nothing for another fence, also when it is asked again after a successor began': async ({ store, win }) => {
    const term = await win();
    assert.equal(await evict(store, 'r', (term.fence - 1) as Fence), false);
    assert.equal(await evict(store, 'r', term.fence), true);
    const successor = await win({ holder: 'pod/2' });
    assert.equal(await evict(store, 'r', term.fence), false);
    assert.deepEqual(await store.renew([successor], TTL_MS), [true]);
    assert.equal(await evict(store, 'nobody', term.fence), false);
  },

  'is announced as a release is': async ({ store, win }) => {
    const announced: string[] = [];
    const stop = await store.watchReleases((resource) => void announced.push(resource));
    const { fence } = await win();
    await evict(store, 'r', fence);
    await eventually('the end is announced', () => announced.includes('r'));
    await stop();
    await assertAcquirable(store, 'r');
  },
};

/** Of stores that can name what is held. */
export const LIST: Claims = {
  'shows each held resource as inspect does, and none that is free': async ({ store, win, winAndExpire }) => {
    for (const resource of ['a', 'b:1/x@y']) await win({ resource, holder: `pod/${resource}` });
    await store.release([await win({ resource: 'released' })]);
    await winAndExpire('over');
    const shown = await listAll(store, 100);
    assert.deepEqual([...shown.keys()].toSorted(), ['a', 'b:1/x@y']);
    const [held] = await store.inspect(['a']);
    const { holder, fence, acquiredAt, remainingMs } = shown.get('a') ?? assert.fail();
    assert.deepEqual([holder, fence, acquiredAt], [held?.holder, held?.fence, held?.acquiredAt]);
    assert.ok(remainingMs > 0 && remainingMs <= TTL_MS);
  },

  'goes through all of many, a page at a time': async ({ store, win }) => {
    const names = Array.from({ length: 30 }, (_, n) => `r${n}`);
    for (const resource of names) await win({ resource });
    const sizes: number[] = [];
    const shown = await listAll(store, 4, sizes);
    assert.deepEqual([...shown.keys()].toSorted(), names.toSorted());
    assert.ok(Math.max(...sizes) < 30, `Expected several pages, got pages of ${sizes.join(', ')}.`);
  },
};

/** What a claim needs that not every store has. */
export const NEEDS: readonly (readonly [Claims, keyof LeaseStore])[] = [
  [MANY, 'acquireMany'],
  [QUEUE, 'servesInOrder'],
  [EVICT, 'evict'],
  [LIST, 'list'],
  [SESSION, 'sessions'],
  [SESSION_ACQUIRE, 'sessions'],
  [SESSION_TERM, 'sessions'],
  [SESSION_REVOKED, 'sessions'],
  [SESSION_REVOKED, 'evict'],
];

function acquireMany(store: LeaseStore, asked: readonly AcquireRequest[]): Promise<AcquireReply[]> {
  return store.acquireMany?.(asked) ?? assert.fail();
}

function evict(store: LeaseStore, resource: string, fence: Fence): Promise<boolean> {
  return store.evict?.(resource, fence) ?? assert.fail();
}
