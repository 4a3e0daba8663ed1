import { ManualClock } from '@fencepost/lease/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { MemoryAlarmStore } from './memory-alarm-store.js';
import { MUTES, muteOf, Mutes } from './mutes.js';

const order = { by: 'ada', reason: 'maintenance of the mail server' };

describe('mutes', () => {
  let clock: ManualClock;
  let store: MemoryAlarmStore;
  let mutes: Mutes;
  beforeEach(() => {
    clock = new ManualClock(1_000_000);
    store = new MemoryAlarmStore(clock);
    mutes = new Mutes(store);
  });

  const kept = async () => (await store.read([MUTES])).records[0];

  it('say what is muted, until when, by whom and why', async () => {
    const mute = await mutes.set({ cron: 'nightly' }, { ...order, forMs: 60_000 });
    expect(mute).toEqual({ cron: 'nightly', tag: null, since: 1_000_000, until: 1_060_000, ...order });
    expect(await mutes.list()).toEqual([mute]);
  });

  it('end by themselves, and leave nothing', async () => {
    await mutes.set({ cron: 'nightly' }, { ...order, forMs: 60_000 });
    await clock.advance(59_999);
    expect(await mutes.list()).toHaveLength(1);
    await clock.advance(1);
    expect(await mutes.list()).toEqual([]);
    expect(await kept()).toBeNull();
  });

  it('end when somebody says so, once', async () => {
    await mutes.set({ tag: 'billing' }, { ...order, until: 2_000_000 });
    expect(await mutes.end({ tag: 'billing' })).toMatchObject({ tag: 'billing' });
    expect(await mutes.end({ tag: 'billing' })).toBeNull();
    expect(await kept()).toBeNull();
  });

  it('of the same target replace one another, and a tag is no cron', async () => {
    await mutes.set({ cron: 'billing' }, { ...order, forMs: 60_000 });
    await mutes.set({ tag: 'billing' }, { ...order, forMs: 60_000 });
    await mutes.set({ cron: 'billing' }, { ...order, forMs: 90_000 });
    expect((await mutes.list()).map(({ cron, tag, until }) => [cron, tag, until])).toEqual([
      [null, 'billing', 1_060_000],
      ['billing', null, 1_090_000],
    ]);
  });

  it('all count where many people mute at once', async () => {
    const names = Array.from({ length: 8 }, (_, n) => `cron-${n}`);
    await Promise.all(names.map((cron) => new Mutes(store).set({ cron }, { ...order, forMs: 60_000 })));
    expect(new Set((await mutes.list()).map(({ cron }) => cron))).toEqual(new Set(names));
  });

  it.each([
    ['no end', {}, 'later than now'],
    ['an end that is past', { until: 999_999 }, 'later than now'],
    ['no reason', { forMs: 1_000, reason: ' ' }, 'reason'],
  ])('are refused with %s', async (_, given, said) => {
    await expect(mutes.set({ cron: 'nightly' }, { ...order, ...given })).rejects.toThrow(said);
  });

  it('are bounded: each delivery reads all of them', async () => {
    for (let n = 0; n < 200; n += 1) await mutes.set({ cron: `cron-${n}` }, { ...order, forMs: 60_000 });
    await expect(mutes.set({ cron: 'more' }, { ...order, forMs: 60_000 })).rejects.toThrow('at most 200 mutes');
    await mutes.set({ cron: 'cron-7' }, { ...order, forMs: 90_000 });
  });

  it('that cannot be read mute nothing, and can be replaced', async () => {
    await store.swap([{ cron: MUTES, was: null, is: '{broken' }]);
    expect(await mutes.list()).toEqual([]);
    await mutes.set({ cron: 'nightly' }, { ...order, forMs: 60_000 });
    expect(await mutes.list()).toHaveLength(1);
  });

  it('are those of a cron by its name or one of its tags, the one that ends last', async () => {
    await mutes.set({ cron: 'nightly' }, { ...order, forMs: 60_000 });
    await mutes.set({ tag: 'eu' }, { ...order, forMs: 90_000 });
    const all = await mutes.list();
    const found = (name: string, tags?: readonly string[]) => muteOf(all, { name, ...(tags && { tags }) });
    expect(found('nightly', ['eu'])).toMatchObject({ tag: 'eu' });
    expect(found('nightly')).toMatchObject({ cron: 'nightly' });
    expect(found('hourly', ['eu'])).toMatchObject({ tag: 'eu' });
    expect([found('hourly', ['us']), found('eu')]).toEqual([null, null]);
  });
});
