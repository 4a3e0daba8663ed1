import { afterEach, describe, expect, it } from 'vitest';
import { BalanceStage, START } from '../../../../test/support/scheduler-stage.js';
import { HEARTBEAT_MS, MEMBER_GONE_MS } from '../membership/membership.js';

const TTL_MS = 10_000;

const stages: BalanceStage[] = [];
afterEach(async () => {
  for (const stage of stages.splice(0)) {
    await stage.stopAll();
    expect(stage.clock.pending).toBe(0);
  }
});

function staged(): BalanceStage {
  const stage = new BalanceStage({ ttlMs: TTL_MS });
  stages.push(stage);
  return stage;
}

describe('a scheduler pod that dies', () => {
  it('has its crons fired by the others within about two seconds, long before its leases run out', async () => {
    const stage = staged();
    await stage.declareMany(30, '* * * * * *');
    const [a, b, c] = [await stage.started('a'), await stage.started('b'), await stage.started('c')];
    await stage.clock.advance(10_100);
    const orphans = a.engine.heldNames();
    expect(orphans.length).toBeGreaterThan(3);
    a.crash();
    await stage.clock.advance(2_600);
    for (const name of orphans) {
      const runs = await stage.memoryLedger.runs(name, 1);
      expect(runs[0]?.scheduledAt, name).toBeGreaterThanOrEqual(START + 11_000);
      expect(runs[0]?.claimedBy).toMatch(/^[bc]\/1$/);
    }
    // The end of one session frees all of them: the pod that comes second has nothing left to end.
    const preempted = [b, c].flatMap(({ events }) => events.of('lease.preempted').map(({ cron }) => cron));
    expect(preempted.length).toBeGreaterThan(0);
    for (const cron of preempted) expect(orphans).toContain(cron);
    expect(stage.leases.calls.filter((call) => call === 'evict').length).toBeLessThanOrEqual(1);
    await stage.clock.advance(MEMBER_GONE_MS);
    const [held] = [await stage.holders(30)];
    expect([...held.keys()].toSorted()).toEqual(['b/1', 'c/1']);
  });

  it('loses all of its crons when one of them is overdue: its session is ended with one call', async () => {
    const stage = staged();
    await stage.declareMany(30);
    await stage.declare(1, {});
    const pods = [await stage.started('a'), await stage.started('b')];
    await stage.clock.advance(10_100);
    const dead = await stage.holder();
    for (const pod of pods) if (pod.keeper.holder === dead) pod.crash();
    expect((await stage.holders(30)).size).toBe(2);
    stage.leases.calls.length = 0;
    await stage.clock.advance(2_000);
    const [survivor] = pods.filter(({ keeper }) => keeper.holder !== dead);
    expect(await stage.holders(30)).toEqual(new Map([[survivor?.keeper.holder, 30]]));
    expect(stage.leases.calls.filter((call) => call === 'sessions.closeOf')).toHaveLength(1);
    expect(survivor?.events.of('pods.changed').at(-1)).toMatchObject({ pods: 1 });
  });

  it('has all of its crons held by the others within twenty milliseconds of the end of its session', async () => {
    const stage = staged();
    await stage.declareMany(30);
    await stage.declare(1, {});
    const pods = [await stage.started('a'), await stage.started('b'), await stage.started('c')];
    await stage.clock.advance(10_100);
    const dead = await stage.holder();
    for (const pod of pods) if (pod.keeper.holder === dead) pod.crash();
    stage.leases.calls.length = 0;
    while (!stage.leases.calls.includes('sessions.closeOf')) await stage.clock.advance(1);
    await stage.clock.advance(20);
    expect([...(await stage.holders(30)).keys()]).not.toContain('nobody');
  });

  it('keeps its crons until its session runs out when none is overdue', async () => {
    const stage = staged();
    await stage.declareMany(30);
    const [a] = [await stage.started('a'), await stage.started('b')];
    await stage.clock.advance(10_100);
    const before = (await stage.holders(30)).get('a/1');
    a.crash();
    await stage.clock.advance((2 * MEMBER_GONE_MS) / 2);
    expect((await stage.holders(30)).get('a/1')).toBe(before);
  });

  it('loses its share in the end also when nothing of it is overdue', async () => {
    const stage = staged();
    await stage.declareMany(30);
    const [a] = [await stage.started('a'), await stage.started('b')];
    await stage.clock.advance(10_100);
    a.crash();
    await stage.clock.advance(TTL_MS + HEARTBEAT_MS);
    expect(await stage.holders(30)).toEqual(new Map([['b/1', 30]]));
  });
});

describe('a holder that is late', () => {
  /** Two pods, and a cron that the first one holds and can't claim for. */
  async function lateHolder() {
    const stage = staged();
    await stage.declare(1, {});
    const pair = [await stage.started('a'), await stage.started('b')] as const;
    await stage.clock.advance(4_100);
    const first = (await stage.holder()) === 'a/1' ? 0 : 1;
    return { stage, holder: pair[first], other: pair[1 - first] ?? pair[1] };
  }

  it('keeps its cron as long as it is heard', async () => {
    const { stage, holder, other } = await lateHolder();
    holder.own.next('claimAll', 'hang');
    // What hangs for ever can't be waited for, not when this fails either.
    stages.splice(0);
    await stage.clock.advance(20_000);
    expect(await stage.ran()).toEqual([1, 2, 3, 4]);
    expect(other.events.of('lease.preempted')).toEqual([]);
    expect(await stage.holder()).toBe(holder.keeper.holder);
  });

  it('gives its cron up when it can not serve it, and another pod that can takes it', async () => {
    const { stage, holder, other } = await lateHolder();
    holder.own.down();
    await stage.clock.advance(20_000);
    expect(await stage.holder()).toBe(other.keeper.holder);
    expect((await stage.ran()).at(-1)).toBe(24);
    expect(other.events.of('lease.preempted')).toEqual([]);
  });
});

describe('a pod that was thought dead', () => {
  it('claims nothing any more when it comes back, and gets its share again', async () => {
    const stage = staged();
    await stage.declareMany(30, '* * * * * *');
    const [a] = [await stage.started('a'), await stage.started('b')];
    await stage.clock.advance(5_100);
    const mine = a.engine.heldNames();
    a.freeze();
    await stage.clock.advance(4_000);
    a.thaw();
    await stage.clock.advance(2 * TTL_MS);
    expect(a.engine.heldNames().toSorted()).toEqual(mine.toSorted());
    for (const name of mine) {
      const runs = (await stage.memoryLedger.runs(name, 100)).toReversed();
      const fences = runs.map(({ claimFence }) => claimFence);
      expect(fences).toEqual(fences.toSorted((x, y) => x - y));
      expect(new Set(runs.map(({ id }) => id)).size).toBe(runs.length);
    }
  });

  it('is given nothing while it is silent: its share stays with whoever has it', async () => {
    const stage = staged();
    await stage.declareMany(30, '* * * * * *');
    const [a, b] = [await stage.started('a'), await stage.started('b')];
    await stage.clock.advance(2 * HEARTBEAT_MS);
    await a.stop();
    await stage.clock.advance(2 * HEARTBEAT_MS);
    expect(b.engine.size).toBe(30);
    // A pod that said it is there, and was silent when it was heard of.
    await stage.membership.port.heartbeat('silent/1');
    stage.membership.next('heartbeat', 'fail', 'fail');
    await stage.clock.advance(3 * HEARTBEAT_MS);
    expect(b.events.of('pods.changed').at(-1)).toMatchObject({ pods: 2 });
    expect(b.engine.size).toBe(30);
    await stage.clock.advance(MEMBER_GONE_MS + HEARTBEAT_MS);
    expect(b.engine.size).toBe(30);
  });
});

describe('a term that a failover has brought back', () => {
  it('is ended by the pod whose session keeps it alive, also while nothing is due', async () => {
    const stage = staged();
    await stage.declareMany(30);
    const [a, b] = [await stage.started('a'), await stage.started('b')];
    await stage.clock.advance(10_100);
    const before = stage.memoryLeases.save();
    const c = await stage.started('c');
    await stage.clock.advance(5_000);
    const moved = c.engine.size;
    expect(moved).toBeGreaterThan(0);
    // The hand-overs to the third pod are lost, and so is its session.
    stage.memoryLeases.restore(before);
    await stage.clock.advance(3 * TTL_MS);
    expect([a, b, c].reduce((sum, { engine }) => sum + engine.size, 0)).toBe(30);
    expect(c.engine.size).toBe(moved);
  });
});
