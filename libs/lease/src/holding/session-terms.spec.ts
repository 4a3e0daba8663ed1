import { beforeEach, describe, expect, it } from 'vitest';
import { parseFence } from '../base/fence.js';
import { keeperStage, TTL_MS } from './keeper.stage.js';

const NOTHING = { acquired: false, remainingMs: 0 };

const opened = () => keeperStage({ sessions: true });
let { clock, memory, store, keeper, lost, ask, hold, isHeld, after } = opened();
beforeEach(() => void ({ clock, memory, store, keeper, lost, ask, hold, isHeld, after } = opened()));

describe('a term that was taken from a session', () => {
  it('is lost alone at the next renewal, and acknowledged with the one after it', async () => {
    const [a, b] = await hold('a', 'b');
    await memory.evict('a', a!.fence);
    await clock.advance(TTL_MS);
    expect(lost).toEqual([['a', 'refused']]);
    expect(b!.signal.aborted).toBe(false);
    const renewals = store.calls.filter(({ call }) => call === 'sessions.renew').map(({ resources }) => resources);
    expect(renewals).toEqual([[], ['a'], []]);
  });

  it('is lost although the reply that named it was lost once', async () => {
    const [a] = await hold('a', 'b');
    await memory.evict('a', a!.fence);
    store.next('sessions.renew', 'lose-reply');
    await clock.advance(TTL_MS);
    expect(lost).toEqual([['a', 'refused']]);
  });

  it('does not take a later term of the same resource with it', async () => {
    const [a] = await hold('a', 'b');
    await memory.evict('a', a!.fence);
    await a!.release();
    const [again] = await hold('a');
    await clock.advance(TTL_MS);
    expect(again!.signal.aborted).toBe(false);
    expect(lost).toEqual([]);
  });

  it('is not kept when the notice comes before the reply that granted it', async () => {
    await hold('b');
    store.next('sessions.acquire', { heldBack: after(TTL_MS / 3 + 100) });
    const asked = ask('a');
    await clock.advance(0);
    await memory.evict('a', (await memory.inspect(['a']))[0]!.fence);
    await clock.advance(TTL_MS / 3 + 100);
    expect(await asked).toEqual([NOTHING]);
  });

  it('goes on without its notice until its holder is refused: only the fence decides', async () => {
    const [a] = await hold('a', 'b');
    const saved = memory.save();
    await memory.evict('a', a!.fence);
    // The note is lost, as it may be where it lies on another node than the term.
    memory.restore({ ...memory.save(), sessions: saved.sessions });
    const successor = await memory.acquire({
      ...{ resource: 'a', nonce: 'n', holder: 'pod/2', ttlMs: TTL_MS, floor: parseFence('0') },
    });
    await clock.advance(TTL_MS / 3);
    expect(a!.signal.aborted).toBe(false);
    expect(successor.acquired && successor.fence > a!.fence).toBe(true);
    expect(await a!.release()).toBe(false);
  });
});

describe('a request whose outcome is unknown', () => {
  it('is repeated under the same nonces when a reply is lost', async () => {
    store.next('sessions.open', 'lose-reply');
    store.next('sessions.acquire', 'lose-reply');
    expect(await hold('a', 'b')).toHaveLength(2);
    expect([store.countOf('sessions.open'), store.countOf('sessions.acquire')]).toEqual([2, 2]);
  });

  it('releases all that it may hold unknowingly', async () => {
    await hold('z');
    store.next('sessions.acquire', 'lose-reply', 'fail');
    await expect(ask('a', 'b')).rejects.toThrow('Connection is closed.');
    await clock.advance(0);
    expect(await isHeld('a', 'b', 'z')).toEqual([false, false, true]);
  });

  it('closes a session that could not be opened, and opens another one the next time', async () => {
    store.next('sessions.open', 'lose-reply', 'fail');
    await expect(ask('a')).rejects.toThrow('Connection is closed.');
    expect([store.countOf('sessions.close'), clock.pending]).toEqual([1, 0]);
    expect(await hold('a')).toHaveLength(1);
  });

  it('keeps none when the reply comes too late, or after all were released', async () => {
    store.next('sessions.acquire', { heldBack: after(11_000) });
    const late = ask('a');
    await clock.advance(11_000);
    expect(await late).toEqual([NOTHING]);
    store.next('sessions.acquire', { heldBack: after(1) });
    const givenUp = ask('b');
    await clock.advance(0);
    await keeper.releaseAll();
    await clock.advance(1);
    expect(await givenUp).toEqual([NOTHING]);
    store.next('sessions.open', { heldBack: after(1) });
    const unopened = ask('c');
    await keeper.releaseAll();
    await clock.advance(1);
    expect(await unopened).toEqual([NOTHING]);
    expect(await isHeld('a', 'b', 'c')).toEqual([false, false, false]);
    expect(clock.pending).toBe(0);
  });
});
