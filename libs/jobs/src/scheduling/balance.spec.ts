import { afterEach, describe, expect, it } from 'vitest';
import { BalanceStage, namesOf, START } from '../../../../test/support/scheduler-stage.js';
import { HEARTBEAT_MS, REPLY_MS } from '../membership/membership.js';

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

/** Seconds since the start of all runs of all crons, and nothing twice. */
async function expectEachSecond(stage: BalanceStage, count: number, through: number): Promise<void> {
  for (const name of namesOf(count)) {
    expect(await stage.ran(name), name).toEqual(Array.from({ length: through }, (_, n) => n + 1));
    expect(await stage.memoryLedger.skips(name, 10)).toEqual([]);
  }
}

describe('three scheduler pods', () => {
  it('share 300 crons: each has about a third, and each cron one holder', async () => {
    const stage = staged();
    await stage.declareMany(300);
    const pods = await Promise.all(['a', 'b', 'c'].map((name) => stage.started(name)));
    await stage.clock.advance(3 * HEARTBEAT_MS);
    const counts = await stage.holders(300);
    expect([...counts.keys()].toSorted()).toEqual(['a/1', 'b/1', 'c/1']);
    for (const share of counts.values()) expect(Math.abs(share - 100)).toBeLessThan(30);
    expect(pods.map(({ engine }) => engine.size).reduce((sum, size) => sum + size)).toBe(300);
  });

  it('ask the lease store for nothing but renewals once everything is held', async () => {
    const stage = staged();
    await stage.declareMany(300);
    for (const name of ['a', 'b', 'c']) await stage.started(name);
    await stage.clock.advance(2 * TTL_MS);
    for (const port of [stage.leases, stage.ledger, stage.catalog, stage.membership]) port.calls.length = 0;
    await stage.clock.advance(60 * HEARTBEAT_MS);
    expect(new Set(stage.leases.calls)).toEqual(new Set(['sessions.renew']));
    expect(stage.leases.calls.length).toBeLessThanOrEqual(3 * 19);
    // Each says once a second that it is alive, and asks for a reply once in three. One watches, and one watches the watcher.
    const calls = (name: string) => stage.membership.calls.filter((call) => call === name).length;
    expect([calls('heartbeat'), calls('beat')]).toEqual([60, 120]);
    expect(calls('members')).toBeLessThanOrEqual((4 + 1) * 60);
    expect(stage.catalog.calls).toEqual([]);
    // Once a minute, for a run that somebody made and told nobody of, and for a ledger that has forgotten.
    expect(stage.ledger.calls.toSorted()).toEqual([
      ...Array.from({ length: 3 }, () => 'overdueAll'),
      ...Array.from({ length: 3 }, () => 'withOpenRuns'),
    ]);
  });
});

describe('a scheduler pod that joins', () => {
  it('gets its share and nothing else moves, and no instant is missed or doubled', async () => {
    const stage = staged();
    await stage.declareMany(30, '* * * * * *');
    const [a, b] = [await stage.started('a'), await stage.started('b')];
    await stage.clock.advance(4_500);
    const before = [a, b].map(({ engine }) => new Set(engine.heldNames()));
    const c = await stage.started('c');
    await stage.clock.advance(6_000);
    const shares = [a, b, c].map(({ engine }) => engine.heldNames());
    expect(shares.flat()).toHaveLength(30);
    expect(shares[2]?.length).toBeGreaterThan(3);
    [a, b].forEach((_, n) => expect(shares[n]?.filter((name) => !before[n]?.has(name))).toEqual([]));
    await expectEachSecond(stage, 30, 10);
  });
});

describe('a scheduler pod that stops', () => {
  it('hands its crons over within a heartbeat, and no instant is missed', async () => {
    const stage = staged();
    await stage.declareMany(30, '* * * * * *');
    const [a] = [await stage.started('a'), await stage.started('b')];
    await stage.clock.advance(4_200);
    expect((await stage.holders(30)).get('a/1')).toBeGreaterThan(5);
    stage.leases.calls.length = 0;
    await a.stop();
    expect(stage.leases.calls.filter((call) => call === 'sessions.close')).toHaveLength(1);
    await stage.clock.advance(HEARTBEAT_MS);
    expect(await stage.holders(30)).toEqual(new Map([['b/1', 30]]));
    await stage.clock.advance(2_000);
    await expectEachSecond(stage, 30, 7);
  });

  it('is replaced before the next heartbeat: its releases announce that it leaves', async () => {
    const stage = staged();
    await stage.declareMany(30);
    const [a] = [await stage.started('a'), await stage.started('b')];
    await stage.clock.advance(2 * HEARTBEAT_MS + 10);
    await a.stop();
    await stage.clock.advance(100);
    expect(await stage.holders(30)).toEqual(new Map([['b/1', 30]]));
  });

  it('is not brought back by a heartbeat that was on its way', async () => {
    const stage = staged();
    const pod = await stage.started('a');
    let answer = () => {};
    stage.membership.next('beat', { heldBack: new Promise((resolve) => (answer = resolve)) });
    await stage.clock.advance(HEARTBEAT_MS);
    const stopped = pod.stop();
    await stage.clock.advance(0);
    expect(stage.membership.calls).not.toContain('leave');
    answer();
    await stopped;
    expect((await stage.membership.port.heartbeat('watch')).members.map(({ pod: name }) => name)).toEqual(['watch']);
  });
});

describe('an outage', () => {
  const cases = (['ledger', 'queue', 'leases', 'membership'] as const).flatMap((store) =>
    [['a'], ['a', 'b', 'c']].map((pods) => [store, pods] as const),
  );

  it.each(cases)(
    'of the %s is over for every cron within seconds of its end, and nothing is unaccounted for (pods: %j)',
    async (store, pods) => {
      const stage = staged();
      await stage.declareMany(10, '* * * * * *');
      for (const name of pods) await stage.started(name);
      await stage.clock.advance(4_200);
      stage[store].down();
      await stage.clock.advance(16_000);
      stage[store].heal();
      await stage.clock.advance(8_000);
      for (const name of namesOf(10)) {
        const ran = await stage.ran(name);
        expect(ran.at(-1), name).toBe(28);
        const skipped = await stage.memoryLedger.skips(name, 100);
        const passed = skipped.map(({ after, through }) => (through - after) / 1_000);
        expect(ran.length + passed.reduce((sum, seconds) => sum + seconds, 0), name).toBe(28);
      }
    },
  );
});

describe('an announcement', () => {
  it('of a cron that no longer exists is dropped', async () => {
    const stage = staged();
    await stage.started('a');
    await stage.membership.port.publishDue(new Map([['gone', START]]));
    await stage.clock.advance(REPLY_MS);
    expect((await stage.membership.port.heartbeat('watch')).overdue).toEqual([]);
  });
});
