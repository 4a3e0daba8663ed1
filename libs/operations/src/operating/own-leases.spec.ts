import { parseFence, type Fence } from '@fencepost/lease';
import { MemorySemaphoreStore } from '@fencepost/lease/coordination';
import { MemoryLeaseStore } from '@fencepost/lease/testing';
import { OperatorInputError } from '@fencepost/ledger';
import { RedisAuditTrail } from '@fencepost/ledger/audit-trail';
import { describe, expect, it } from 'vitest';
import { podCard } from '../../../../test/contracts/pod-registry.contract.js';
import { redisSpaces } from '../../../../test/jobs/redis-space.js';
import { OperatingStage } from '../../../../test/support/operating-stage.js';
import { MemoryPodRegistry } from '@fencepost/jobs/internal/scheduling';
import { LeaseMovedError } from './lease-moved-error.js';
import { OwnLeases, type OwnStores } from './own-leases.js';
import { OwnLeaseWatch } from './own-leases-watch.js';

const WHO = { by: 'otto', role: 'admin', from: 'cli host-1', reason: 'its process is dead' };
const POD = 'pod-a/0123456789';

const spaces = redisSpaces();

function stage(over: Partial<OwnStores> = {}) {
  const { clock, membership } = new OperatingStage();
  const leases = new MemoryLeaseStore({ clock });
  const semaphores = new MemorySemaphoreStore({ clock });
  const pods = new MemoryPodRegistry(clock);
  const audit = new RedisAuditTrail({ redis: spaces.redis(), ...spaces.fresh() });
  const own = { leases, semaphores };
  const service = new OwnLeases({ own: { ...own, ...over }, reads: { own, pods, membership }, audit, clock });
  const take = async (resource: string, holder = POD, places?: number): Promise<Fence> => {
    const store = places === undefined ? leases : semaphores;
    const nonce = `${resource} ${holder}`.replaceAll(' ', '-');
    const request = { resource, holder, nonce, ttlMs: 60_000, floor: parseFence('0'), places };
    const reply = await store.acquire(request);
    if (!reply.acquired) throw new Error(`Expected ${resource} to be free.`);
    return reply.fence;
  };
  return { clock, leases, semaphores, pods, membership, audit, service, take };
}

describe('a list of own leases', () => {
  it('does not know whether a holder lives that reports nothing, and takes one that sends heartbeats for a live pod', async () => {
    const { service, take, pods, membership, clock } = stage();
    await pods.report(podCard({ pod: POD }));
    await clock.advance(15_000);
    await pods.report(podCard({ pod: POD }));
    await membership.heartbeat('former/1');
    await take('silent', 'batch/1');
    await take('live', 'former/1');
    const { items } = await service.list({}, 50);
    expect(items.map(({ resource, holderIsPod }) => [resource, holderIsPod])).toEqual([
      ['live', true],
      ['silent', false],
    ]);
  });

  it('says what each is, since when it is held, and whether its holder is a live pod', async () => {
    const { service, take, pods, clock } = stage();
    await pods.report(podCard({ pod: POD }));
    const since = clock.now();
    await take('invoice:42');
    await take('role:leader', 'batch/1');
    await take('flight:rates', 'batch/1');
    await take('gpu', 'batch/1', 2);
    await take('gpu', 'batch/2', 2);
    await clock.advance(3_000);
    const { items, next } = await service.list({}, 50);
    expect(next).toBeNull();
    expect(items.map(({ kind, resource, holder, holderIsPod }) => [kind, resource, holder, holderIsPod])).toEqual([
      ['flight', 'flight:rates', 'batch/1', false],
      ['semaphore', 'gpu', 'batch/1', false],
      ['semaphore', 'gpu', 'batch/2', false],
      ['lease', 'invoice:42', POD, true],
      ['election', 'role:leader', 'batch/1', false],
    ]);
    expect(items.map(({ acquiredAt, remainingMs }) => [acquiredAt, remainingMs])).toEqual(
      items.map(() => [since, 57_000]),
    );
  });

  it.each([
    [{ kind: 'lease' }, ['invoice:42']],
    [{ kind: 'semaphore' }, ['gpu']],
    [{ kind: 'election' }, ['role:leader']],
    [{ resource: 'e' }, ['invoice:42', 'role:leader']],
    [{ holder: 'batch' }, ['gpu', 'role:leader']],
    [{ kind: 'lease', holder: 'batch' }, []],
  ] as const)('is narrowed by %o', async (filter, names) => {
    const { service, take } = stage();
    await take('invoice:42');
    await take('role:leader', 'batch/1');
    await take('gpu', 'batch/1', 2);
    expect((await service.list(filter, 50)).items.map(({ resource }) => resource)).toEqual(names);
  });

  it('is read a page at a time, over both kinds of stores, and no call to a store is for all of it', async () => {
    const { service, take, leases } = stage();
    for (let n = 0; n < 45; n += 1) await take(`invoice:${n}`);
    for (let n = 0; n < 5; n += 1) await take(`gpu-${n}`, POD, 1);
    const asked: number[] = [];
    const list = leases.list.bind(leases);
    leases.list = (after, limit) => (asked.push(limit), list(after, limit));
    const names: string[] = [];
    const sizes: number[] = [];
    for (let after: string | null = null; ;) {
      const { items, next } = await service.list({}, 10, after);
      names.push(...items.map(({ resource }) => resource));
      sizes.push(items.length);
      if (next === null) break;
      after = next;
    }
    expect(new Set(names).size).toBe(50);
    expect(sizes.length).toBeGreaterThan(4);
    expect(Math.max(...asked)).toBeLessThanOrEqual(20);
  });

  it('looks at a bounded number of keys when hardly anything fits, and goes on from there', async () => {
    const { service, leases } = stage();
    let calls = 0;
    leases.list = async () => ({ items: [], next: String((calls += 1)) });
    const { items, next } = await service.list({}, 10);
    expect([items, next, calls]).toEqual([[], 'leases:20', 20]);
  });

  it('refuses a cursor that no page had', async () => {
    const { service, leases } = stage();
    await expect(service.list({}, 10, 'nonsense')).rejects.toThrow(OperatorInputError);
    leases.list = () => Promise.reject(new RangeError('no cursor'));
    await expect(service.list({}, 10, 'leases:x')).rejects.toThrow(OperatorInputError);
  });
});

describe('clearing an own lease', () => {
  it('ends the term that was looked at, and its record says which, why, and that its downstream is safe', async () => {
    const { service, take, leases, audit } = stage();
    const fence = await take('invoice:42');
    const { cleared, next } = await service.clear('invoice:42', {
      ...{ ...WHO, kind: 'lease', fence, isDownstreamSafe: true },
    });
    expect([cleared.fence, next]).toEqual([fence, null]);
    expect(await leases.inspect(['invoice:42'])).toEqual([null]);
    expect(await audit.list({ limit: 10 })).toMatchObject([
      {
        ...{ ...WHO, action: 'clear-lease', cron: null, after: { lease: null } },
        before: { kind: 'lease', resource: 'invoice:42', downstreamSafe: true, lease: { fence: String(fence) } },
      },
    ]);
    expect(JSON.stringify(await audit.list({ limit: 10 }))).not.toContain(POD);
  });

  it('is refused, and changes nothing, unless it is confirmed that its downstream is safe', async () => {
    const { service, take, leases, audit } = stage();
    const fence = await take('invoice:42');
    const order = { ...WHO, kind: 'lease', fence, isDownstreamSafe: false } as const;
    await expect(service.clear('invoice:42', order)).rejects.toThrow(OperatorInputError);
    expect(await leases.inspect(['invoice:42'])).toMatchObject([{ fence }]);
    expect(await audit.list({ limit: 10 })).toEqual([]);
  });

  it('frees one place of a semaphore and leaves the others', async () => {
    const { service, take, semaphores } = stage();
    const [first, second] = [await take('gpu', 'batch/1', 2), await take('gpu', 'batch/2', 2)];
    await service.clear('gpu', { ...WHO, kind: 'semaphore', fence: first, isDownstreamSafe: true });
    expect((await semaphores.holders('gpu')).map(({ fence }) => fence)).toEqual([second]);
  });

  it('leaves a lease of another fence, and one that changes between the look and the act', async () => {
    const { take, leases, service, audit } = stage();
    const fence = await take('invoice:42');
    const order = { ...WHO, kind: 'lease', isDownstreamSafe: true } as const;
    await expect(service.clear('invoice:42', { ...order, fence: (fence - 1) as Fence })).rejects.toThrow(
      LeaseMovedError,
    );
    await expect(service.clear('invoice:42', { ...order, kind: 'semaphore', fence })).rejects.toThrow(LeaseMovedError);
    leases.evict = async () => false;
    await expect(service.clear('invoice:42', { ...order, fence })).rejects.toThrow(LeaseMovedError);
    expect(await leases.inspect(['invoice:42'])).toMatchObject([{ fence }]);
    expect(await audit.list({ limit: 10 })).toEqual([]);
  });
});

describe('the watch of a lease that was cleared', () => {
  const fence = parseFence('1000');
  const term = { kind: 'lease', resource: 'invoice:42', fence, holder: POD } as const;
  const held = (holder: string, at: number, kind: 'lease' | 'semaphore' = 'lease') => ({
    ...{ kind, holder, fence: at as Fence, remainingMs: 1 },
  });
  const seen = (
    looks: Parameters<OwnLeaseWatch['see']>[0][],
    of: ConstructorParameters<typeof OwnLeaseWatch>[0] = term,
  ) => {
    const watch = new OwnLeaseWatch(of);
    for (const look of looks) watch.see(look);
    const { verdict, observations } = watch.report();
    return [verdict, ...observations.map(({ kind }) => kind)];
  };

  it.each([
    ['nobody takes it', [[], []], ['free']],
    ['another holder takes it under a higher fence', [[], [held('b/1', 1_001)]], ['clean', 'next-holder']],
    ['its old holder takes it again', [[held(POD, 1_001)], []], ['doubtful', 'old-holder-is-back']],
    ['a holder has a lower fence', [[held('b/1', 999)]], ['duplicate', 'fence-fell']],
    ['the cleared term is there again', [[held(POD, 1_000)]], ['duplicate', 'cleared-term-is-back']],
    ['a semaphore has the name', [[held('b/1', 1_001, 'semaphore')]], ['free']],
  ] as const)('says so when %s', (_, looks, expected) => {
    expect(seen(looks.map((look) => [...look]))).toEqual(expected);
  });

  it('takes the other places of a semaphore for what they are', () => {
    const place = { ...term, kind: 'semaphore' } as const;
    expect(seen([[held('b/1', 999, 'semaphore')]], place)).toEqual(['free']);
  });

  it('goes on by the stores until its time is over', async () => {
    const { service, take, leases, clock } = stage();
    const first = await take('invoice:42');
    await leases.evict('invoice:42', first);
    const watching = service.watch({ ...term, fence: first }, 2_000);
    await clock.advance(1_000);
    const next = await take('invoice:42', 'batch/2');
    await clock.advance(1_500);
    expect(await watching).toMatchObject({ verdict: 'clean', holding: { holder: 'batch/2', fence: next } });
  });
});
