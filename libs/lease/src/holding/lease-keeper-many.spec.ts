import { beforeEach, describe, expect, it } from 'vitest';
import { LeaseLostError } from '../base/errors.js';
import { parseFence } from '../base/fence.js';
import { LeaseKeeper } from './lease-keeper.js';
import { keeperStage, TTL_MS } from './keeper.stage.js';

const opened = () => keeperStage({ sessions: false });
let { clock, memory, store, keeper, lost, ask, hold } = opened();
beforeEach(() => void ({ clock, memory, store, keeper, lost, ask, hold } = opened()));

describe('LeaseKeeper takes many', () => {
  it('in one call: the free ones, and of the others says how long they are held', async () => {
    await new LeaseKeeper({ store: memory, clock, holder: 'pod/2' }).tryAcquire('b', { ttlMs: TTL_MS });
    const [a, b, c] = await ask('a', 'b', 'c');
    expect([a?.acquired, b, c?.acquired]).toEqual([true, { acquired: false, remainingMs: TTL_MS }, true]);
    expect(store.calls.map(({ call }) => call)).toEqual(['acquireMany']);
    expect(await ask()).toEqual([]);
    expect(store.calls).toHaveLength(1);
  });

  it('above the floor of each', async () => {
    const floor = parseFence('8000000000000000');
    const answers = await keeper.tryAcquireMany([{ resource: 'a', floor }, { resource: 'b' }], { ttlMs: TTL_MS });
    const fences = answers.map((answer) => (answer.acquired ? answer.lease.fence : 0));
    expect(fences[0]).toBe(floor + 1);
    expect(fences[1]).toBeLessThan(floor);
  });

  it('or releases all that it may hold unknowingly', async () => {
    store.next('acquireMany', 'lose-reply', 'fail');
    await expect(ask('a', 'b')).rejects.toThrow('Connection is closed.');
    await clock.advance(0);
    expect(await memory.inspect(['a', 'b'])).toEqual([null, null]);
    expect(clock.pending).toBe(0);
  });

  it('but keeps none when the reply comes too late or after all were released', async () => {
    store.next('acquireMany', { heldBack: new Promise((resolve) => void clock.after(11_000, () => resolve())) });
    const late = ask('a', 'b');
    await clock.advance(11_000);
    expect(await late).toEqual([NOTHING, NOTHING]);
    store.next('acquireMany', { heldBack: new Promise((resolve) => void clock.after(1, () => resolve())) });
    const givenUp = ask('a', 'b');
    await keeper.releaseAll();
    await clock.advance(1);
    expect(await givenUp).toEqual([NOTHING, NOTHING]);
    expect(await memory.inspect(['a', 'b'])).toEqual([null, null]);
  });

  it('renews them together and tells of each that is lost, once', async () => {
    const [a, b] = await hold('a', 'b');
    await memory.evict('a', a!.fence);
    await clock.advance(TTL_MS);
    expect(lost).toEqual([['a', 'refused']]);
    expect(store.calls.filter(({ call }) => call === 'renew').map(({ resources }) => resources)).toEqual([
      ['a', 'b'],
      ['b'],
      ['b'],
    ]);
    expect(b!.signal.aborted).toBe(false);
    expect(a!.signal.reason).toBeInstanceOf(LeaseLostError);
  });

  it('and releases those it is asked to in one call, without reporting a loss', async () => {
    const [a, b, c] = await hold('a', 'b', 'c');
    expect(await keeper.release([a!, c!])).toEqual([true, true]);
    expect(store.countOf('release')).toBe(1);
    expect([a!.signal.aborted, b!.signal.aborted, c!.signal.aborted]).toEqual([true, false, true]);
    expect(lost).toEqual([]);
    expect((await memory.inspect(['a', 'b', 'c'])).map((holding) => holding !== null)).toEqual([false, true, false]);
  });
});

const NOTHING = { acquired: false, remainingMs: 0 };
