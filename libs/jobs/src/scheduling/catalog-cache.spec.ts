import { afterEach, describe, expect, it } from 'vitest';
import { CRON, SchedulerStage, START } from '../../../../test/support/scheduler-stage.js';
import { isLong } from '../../../../test/support/run-length.js';
import { REPLY_MS } from '../membership/membership.js';

type Pod = ReturnType<SchedulerStage['pod']>;

const pods: { stage: SchedulerStage; pod: Pod }[] = [];
afterEach(async () => {
  const ended = pods.splice(0);
  await Promise.all(ended.map(({ pod }) => pod.stop()));
  for (const { stage } of ended) expect(stage.clock.pending).toBe(0);
});

async function started(stage: SchedulerStage, name = 'pod'): Promise<Pod> {
  const pod = stage.pod(name);
  pods.push({ stage, pod });
  await pod.start();
  await stage.clock.advance(0);
  return pod;
}

describe('the catalog cache', () => {
  it('reads the catalog when it is announced to have changed, and otherwise not', async () => {
    const stage = new SchedulerStage();
    await stage.declare(1, {});
    const { events } = await started(stage);
    await stage.clock.advance(60_000);
    expect(stage.catalog.calls.filter((call) => call === 'since')).toHaveLength(1);
    await stage.declare(2, { expression: '*/5 * * * * *' });
    await stage.clock.advance(0);
    expect(stage.catalog.calls.filter((call) => call === 'since')).toHaveLength(2);
    expect(events.of('catalog.read')).toHaveLength(2);
    expect(events.of('lease.acquired')).toHaveLength(1);
  });

  it('hears from its next heartbeat of a change whose announcement got lost', async () => {
    const stage = new SchedulerStage();
    const { events } = await started(stage);
    stage.catalog.next('since', 'fail');
    await stage.declare(1, {});
    await stage.clock.advance(0);
    expect(events.of('store.failed')).toMatchObject([{ operation: 'catalog.read' }]);
    await stage.clock.advance(REPLY_MS);
    expect(events.of('catalog.read')).toEqual([{ crons: 1 }]);
  });

  it('goes on under a new generation in the same term, and no instant belongs to both', async () => {
    const stage = new SchedulerStage();
    await stage.declare(1, {});
    const { events } = await started(stage);
    await stage.clock.advance(2_500);
    await stage.declare(2, { expression: '*/5 * * * * *' });
    await stage.clock.advance(10_000);
    expect(await stage.ran()).toEqual([1, 2, 3, 4, 5, 10]);
    expect(events.of('lease.acquired')).toHaveLength(1);
    const runs = await stage.memoryLedger.runs(CRON, 10);
    expect(runs.map(({ generation }) => generation)).toEqual([2, 2, 1, 1, 1, 1]);
    expect(await stage.memoryLedger.skips(CRON, 10)).toEqual([]);
  });

  it('claims no instant whose generation it cannot know: its last reading is too old', async () => {
    const stage = new SchedulerStage();
    await stage.declare(1, {});
    const { events } = await started(stage);
    await stage.clock.advance(2_500);
    stage.membership.down();
    await stage.clock.advance(6_000);
    expect((await stage.ran()).at(-1)).toBeLessThanOrEqual(4);
    stage.membership.heal();
    await stage.clock.advance(2_500);
    expect((await stage.ran()).at(-1)).toBeGreaterThanOrEqual(10);
    expect(events.of('store.failed').map(({ operation }) => operation)).toContain('membership.heartbeat');
  });

  it('does not take a heartbeat that shows another catalog for news of the one it knows', async () => {
    const stage = new SchedulerStage();
    await stage.declare(1, {});
    const { pod } = await started(stage);
    await stage.clock.advance(1_500);
    const { knownAt } = pod;
    stage.catalog.next('since', ...Array.from({ length: 9 }, () => 'fail' as const));
    await stage.declare(2, { expression: '*/5 * * * * *' });
    await stage.clock.advance(6_500);
    expect(pod.knownAt).toBe(knownAt);
    expect(await stage.ran()).toEqual([1, 2, 3]);
    await stage.clock.advance(5_000);
    expect((await stage.ran()).at(-1)).toBe(10);
  });

  it('keeps what it has while the catalog can not be read', async () => {
    const stage = new SchedulerStage();
    await stage.declare(1, {});
    const { catalogCache, events } = await started(stage);
    stage.catalog.next('since', 'fail');
    await catalogCache.refresh();
    await stage.clock.advance(2_000);
    expect(events.of('store.failed')).toMatchObject([{ operation: 'catalog.read' }]);
    expect(await stage.ran()).toEqual([1, 2]);
  });

  it('tells of a schedule it can not read, and fires the others', async () => {
    const stage = new SchedulerStage();
    await stage.declare(1, {}, { name: 'b', timeZone: 'Mars/Phobos' });
    const { events } = await started(stage);
    await stage.clock.advance(1_000);
    expect(events.of('catalog.unreadable')).toEqual([
      { cron: 'b', err: expect.objectContaining({ message: expect.stringContaining('IANA') }) },
    ]);
    expect(await stage.ran()).toEqual([1]);
    await stage.declare(2, {}, { name: 'b' });
    await stage.clock.advance(4_000);
    expect((await stage.ran('b')).at(-1)).toBe(5);
  });

  it('does not take an older word for the latest because it came later', async () => {
    const stage = new SchedulerStage();
    await stage.declare(1, {});
    const { pod, catalogCache } = stage.pod();
    const beat = await stage.membership.port.heartbeat('a');
    await catalogCache.refresh();
    catalogCache.applyHeartbeat({ ...beat, now: beat.now + 2 }, 2);
    catalogCache.applyHeartbeat({ ...beat, now: beat.now + 1 }, 1);
    expect(pod.knownAt).toBe(beat.now + 2);
  });
});

/** Two pods over one hour of a cron that fires each second, their leases taken away again and again. */
async function expectAnHour(seed: number): Promise<void> {
  let state = seed;
  const random = () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
  const stage = new SchedulerStage({ random });
  await stage.declare(1, { catchUpWindowMs: 3_600_000 });
  const two = [stage.pod('a'), stage.pod('b')];
  for (const pod of two) await pod.start();
  const end = START + 3_600_000;
  while (stage.clock.now() < end - 120_000) {
    await stage.clock.advance(Math.floor(random() * 60_000));
    const mishap = Math.floor(random() * 4);
    if (mishap === 0) stage.clock.jumpWall(2_500);
    else if (mishap === 1)
      stage.leases.next('renew', 'fail', 'fail', 'fail', 'fail', 'fail', 'fail', 'fail', 'fail', 'fail', 'fail');
    else if (mishap === 2) await two[random() < 0.5 ? 0 : 1]?.keeper.releaseAll();
    else stage.ledger.next('claimAll', 'lose-reply', 'fail');
  }
  await stage.clock.advance(end - stage.clock.now() + 500);
  const terms = two.flatMap(({ events }) => events.of('lease.acquired'));
  await Promise.all(two.map((pod) => pod.stop()));

  const accounted = await stage.ran();
  for (const { after, through } of await stage.memoryLedger.skips(CRON, 10_000)) {
    for (let instant = after + 1_000; instant <= through; instant += 1_000) accounted.push((instant - START) / 1_000);
  }
  expect(accounted.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 3_600 }, (_, n) => n + 1));
  expect(new Set(stage.memoryQueue.taken.map(({ runId }) => runId)).size).toBe((await stage.ran()).length);
  const fences = (await stage.memoryLedger.runs(CRON, 10_000)).map(({ claimFence }) => claimFence).toReversed();
  expect(fences).toEqual(fences.toSorted((a, b) => a - b));
  expect(terms.length).toBeGreaterThan(20);
  expect(stage.clock.pending).toBe(0);
}

describe('two pods over an hour', () => {
  it.each(isLong ? [1, 2, 3] : [1])('account for each second exactly once while leases get lost (seed %i)', (seed) =>
    expectAnHour(seed),
  );
});
