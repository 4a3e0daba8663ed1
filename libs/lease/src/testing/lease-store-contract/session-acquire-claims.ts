import assert from 'node:assert/strict';
import { NO_FENCE } from '../../base/fence.js';
import type { Fence } from '../../base/fence.js';
import { askInVain, assertAbove, assertFree, assertRejects } from './expectations.js';
import { assertLeft, open, sessionsOf, shortTtlMs, wanted } from './session-stage.js';
import { ABOVE_THE_CLOCK, TTL_MS } from './stage.js';
import type { Claims } from './stage.js';

const MANY = 1_100;

/** How a term under a session begins. */
export const SESSION_ACQUIRE: Claims = {
  'gives the same answers to the same nonces, and consumes no second fence': async (stage) => {
    const { session: mine } = await open(stage);
    const asked = ['r', 'a'].map((resource) => wanted({ resource, floor: ABOVE_THE_CLOCK }));
    const first = await sessionsOf(stage).acquire(mine, asked);
    assert.ok(first.every(({ acquired }) => acquired));
    assert.deepEqual(await sessionsOf(stage).acquire(mine, asked), first);
    await stage.store.release(asked);
    assert.equal((await stage.win()).fence, ABOVE_THE_CLOCK + 2);
  },

  'answers in the order given: the free ones, and how long the others are held': async (stage) => {
    const [mine, other] = [await open(stage), await open(stage, { holder: 'pod/2' })];
    await other.win({ resource: 'b' });
    await stage.win({ resource: 'd' });
    const replies = await mine.ask('a', 'b', 'c', 'd');
    assert.deepEqual(
      replies.map(({ acquired }) => acquired),
      [true, false, true, false],
    );
    for (const reply of replies) if (!reply.acquired) assertLeft(stage, reply.remainingMs);
    assert.deepEqual(await mine.ask(), []);
  },

  'is refused while a term with a ttl of its own holds the resource, and the other way round': async (stage) => {
    const { win, ask } = await open(stage);
    await stage.winAndExpire('r');
    await win();
    assertLeft(stage, await askInVain(stage.store));
    const own = await stage.win({ resource: 'a' });
    const [reply] = await ask('a');
    assert.equal(reply?.acquired, false);
    await stage.store.release([own]);
    await win({ resource: 'a' });
  },

  'lets one of ten sessions win': async (stage) => {
    const all = await Promise.all(Array.from({ length: 10 }, (_, n) => open(stage, { holder: `pod/${n}` })));
    const replies = await Promise.all(all.map(({ ask }) => ask('a', 'b')));
    for (const place of [0, 1]) assert.equal(replies.filter((reply) => reply[place]?.acquired).length, 1);
  },

  'takes over the terms of a session that is over, in the order given and under larger fences': async (stage) => {
    const dead = await open(stage, { ttlMs: shortTtlMs(stage) });
    const before = [await dead.win({ resource: 'a' }), await dead.win({ resource: 'b' })];
    await stage.harness.untilFree('a');
    const successor = await open(stage, { holder: 'pod/2' });
    const replies = await successor.ask('a', 'new', 'b');
    const fences = replies.map((reply) => (reply.acquired ? reply.fence : assert.fail()));
    assertAbove(fences[0] ?? 0, before[0]?.fence ?? 0);
    assertAbove(fences[2] ?? 0, before[1]?.fence ?? 0);
    assert.equal((await stage.store.inspect(['b']))[0]?.holder, 'pod/2');
  },

  'gives nothing to a request that comes again after its term was taken': async (stage) => {
    const [mine, other] = [await open(stage), await open(stage, { holder: 'pod/2' })];
    const asked = wanted();
    await sessionsOf(stage).acquire(mine.session, [asked]);
    await stage.store.release([asked]);
    const { fence } = await other.win();
    const [again] = await sessionsOf(stage).acquire(mine.session, [asked]);
    assert.equal(again?.acquired, false);
    assert.equal((await stage.store.inspect(['r']))[0]?.fence, fence);
  },

  'takes 1 100 in one call, and one command ends them all': async (stage) => {
    const { ask, session: mine } = await open(stage, { ttlMs: 6 * TTL_MS });
    const resources = Array.from({ length: MANY }, (_, n) => `r${n}`);
    const replies = await ask(...resources);
    assert.equal(replies.filter(({ acquired }) => acquired).length, MANY);
    await sessionsOf(stage).close(mine);
    const successor = await open(stage, { holder: 'pod/2', ttlMs: 6 * TTL_MS });
    assert.equal((await successor.ask(...resources)).filter(({ acquired }) => acquired).length, MANY);
  },

  'issues fences that increase strictly over terms of both kinds': async (stage) => {
    const { win } = await open(stage);
    let last: Fence = NO_FENCE;
    for (let n = 0; n < 30; n++) {
      const term = n % 3 === 0 ? await stage.win() : await win();
      assertAbove(term.fence, last);
      last = term.fence;
      await stage.store.release([term]);
    }
  },

  'issues a fence above the floor, and never falls back to a floor below it': async (stage) => {
    const { win } = await open(stage);
    const high = await win({ floor: ABOVE_THE_CLOCK });
    assert.equal(high.fence, ABOVE_THE_CLOCK + 1);
    await stage.store.release([high]);
    const own = await stage.win({ floor: 1 as Fence });
    assert.equal(own.fence, ABOVE_THE_CLOCK + 2);
    await stage.store.release([own]);
    assert.equal((await win({ floor: 1 as Fence })).fence, ABOVE_THE_CLOCK + 3);
  },

  'issues a larger fence than a term that ended with its session': async (stage) => {
    const dead = await open(stage, { ttlMs: shortTtlMs(stage) });
    await dead.win({ floor: ABOVE_THE_CLOCK });
    await dead.win({ resource: 'a', floor: ABOVE_THE_CLOCK });
    await stage.harness.untilFree('r');
    assert.equal((await stage.win()).fence, ABOVE_THE_CLOCK + 2);
    const successor = await open(stage);
    assert.equal((await successor.win({ resource: 'a' })).fence, ABOVE_THE_CLOCK + 2);
  },

  'issues a larger fence after the store has lost everything, when the floor is known': async (stage) => {
    const { win } = await open(stage);
    const { fence } = await win({ floor: ABOVE_THE_CLOCK });
    await stage.harness.lose();
    assertAbove((await (await open(stage)).win({ floor: fence })).fence, fence);
  },

  'ends at 2^53 - 1 with an error, and nobody holds the resource then': async (stage) => {
    const { session: mine } = await open(stage);
    const asked = wanted({ floor: Number.MAX_SAFE_INTEGER as Fence });
    await assertRejects(sessionsOf(stage).acquire(mine, [asked]), { code: 'FENCE_EXHAUSTED' });
    await assertFree(stage.store, 'r');
  },

  'refuses a negative floor and writes nothing': async (stage) => {
    const { session: mine } = await open(stage);
    const asked = [wanted(), wanted({ resource: 'a', floor: -1 as Fence })];
    await assertRejects(sessionsOf(stage).acquire(mine, asked), { name: 'RangeError' });
    await assertFree(stage.store, 'r', 'a');
  },
};
