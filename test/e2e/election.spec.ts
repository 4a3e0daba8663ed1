import { describe, expect, it } from 'vitest';
import { Leases } from '@fencepost/lease';
import { Election, type Leader } from '@fencepost/lease/coordination';
import { RedisLeaseStore } from '@fencepost/lease/redis';
import { useCoordinators } from './coordinators.js';
import type { Pod } from '../support/pod.js';

/* Candidates in processes of their own, and an observer in this one. */
const coordinators = useCoordinators();
const CAMPAIGN = { TASK: 'campaign', LEASE_TTL: '1s' };
/** So that nobody gets in because a term is over. */
const LONG_TERM = { ...CAMPAIGN, LEASE_TTL: '1h' };

async function candidate(name: string, env: Readonly<Record<string, string>>): Promise<Pod> {
  const pod = coordinators.start(name, env);
  await pod.waitFor('campaigning');
  return pod;
}

async function elected(pod: Pod): Promise<number> {
  return (await pod.waitFor('elected'))['fence'] as number;
}

/** Takes what an observer is told until `work` is done. */
async function observed(work: (told: readonly (Leader | null)[]) => Promise<void>): Promise<void> {
  const { redis, prefix } = coordinators;
  const store = new RedisLeaseStore({ redis, prefix, tenant: 'default' });
  await using leases = new Leases({ store });
  const election = new Election({ leases });
  const stop = new AbortController();
  const told: (Leader | null)[] = [];
  const read = async () => {
    for await (const leader of election.observe('sweeper', { signal: stop.signal })) told.push(leader);
  };
  const reading = read();
  try {
    await work(told);
  } finally {
    stop.abort();
    await reading;
  }
}

describe('an election over processes', () => {
  it('has one leader after the other, as each is killed or resigns, and observers see every one', async () => {
    await observed(async (told) => {
      const first = await candidate('first', CAMPAIGN);
      const fences = [await elected(first)];
      await expect.poll(() => told.at(-1)?.holder).toBe('first');
      const others = [await candidate('second', CAMPAIGN), await candidate('third', CAMPAIGN)];
      await first.kill();
      const second = await Promise.any(others.map(async (pod) => elected(pod).then(() => pod)));
      fences.push(await elected(second));
      await expect.poll(() => told.at(-1)?.holder).toBe(second.name);
      const third = others.find((pod) => pod !== second)!;
      expect(third.eventsOf('elected')).toEqual([]);
      await coordinators.openGate(`resign-${second.name}`);
      fences.push(await elected(third));
      expect(await second.waitFor('resigned')).toMatchObject({ wasOurs: true });
      await expect.poll(() => told.at(-1)?.holder).toBe(third.name);
      expect(fences).toEqual(fences.toSorted((a, b) => a - b));
      expect(new Set(fences).size).toBe(3);
      await coordinators.openGate(`resign-${third.name}`);
      await expect.poll(() => told.at(-1)).toBeNull();
      await Promise.all([second.waitFor('done'), third.waitFor('done')]);
    });
  });

  it('is handed over by a resignation long before the term would be over', async () => {
    const first = await candidate('first', LONG_TERM);
    const before = await elected(first);
    const second = await candidate('second', LONG_TERM);
    await coordinators.openGate('resign-first');
    expect(await elected(second)).toBeGreaterThan(before);
    await coordinators.openGate('resign-second');
    await Promise.all([first.waitFor('done'), second.waitFor('done')]);
  });

  it('tells a leader that was frozen past its term that it leads no more', async () => {
    const frozen = await candidate('frozen', CAMPAIGN);
    await elected(frozen);
    frozen.freeze();
    const next = await candidate('next', CAMPAIGN);
    await elected(next);
    frozen.thaw();
    await frozen.waitFor('not_leading');
    await coordinators.openGate('resign-frozen');
    expect(await frozen.waitFor('resigned')).toMatchObject({ wasOurs: false });
    expect(next.eventsOf('not_leading')).toEqual([]);
    await coordinators.openGate('resign-next');
    expect(await next.waitFor('resigned')).toMatchObject({ wasOurs: true });
    await Promise.all([frozen.waitFor('done'), next.waitFor('done')]);
  });
});
