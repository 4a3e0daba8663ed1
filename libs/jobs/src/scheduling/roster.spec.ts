import { afterEach, describe, expect, it } from 'vitest';
import { CRON, definition, SchedulerStage, START, TTL_MS } from '../../../../test/support/scheduler-stage.js';

type Pod = ReturnType<SchedulerStage['pod']>;

const pods: { stage: SchedulerStage; pod: Pod }[] = [];
afterEach(async () => {
  const ended = pods.splice(0);
  await Promise.all(ended.map(({ pod }) => pod.engine.stop()));
  await Promise.all(ended.map(({ pod }) => pod.roster.stop()));
  for (const { stage } of ended) expect(stage.clock.pending).toBe(0);
});

async function started(stage: SchedulerStage, name = 'pod'): Promise<Pod> {
  const pod = stage.pod(name);
  pods.push({ stage, pod });
  await pod.roster.refresh();
  await stage.clock.advance(0);
  return pod;
}

function declare(stage: SchedulerStage, build: number, ...definitions: Parameters<typeof definition>[0][]) {
  const declarations = definitions.map((over) => ({ definition: definition(over), disabled: false }));
  return stage.catalog.port.declare(declarations, build);
}

describe('the roster', () => {
  it('campaigns for every cron of the catalog, and fires what it wins', async () => {
    const stage = new SchedulerStage();
    await declare(stage, 1, {}, { name: 'b', expression: '*/2 * * * * *' });
    const { events } = await started(stage);
    await stage.clock.advance(4_000);
    expect(await stage.ran()).toEqual([1, 2, 3, 4]);
    expect(await stage.ran('b')).toEqual([2, 4]);
    expect(events.of('catalog.read')).toEqual([{ crons: 2 }]);
  });

  it('says nothing and changes nothing when the catalog is as it was', async () => {
    const stage = new SchedulerStage();
    await declare(stage, 1, {});
    const { roster, events } = await started(stage);
    await roster.refresh();
    await roster.refresh();
    expect(events.of('catalog.read')).toHaveLength(1);
    expect(events.of('lease.acquired')).toHaveLength(1);
  });

  it('campaigns anew under a new generation, and no instant belongs to both', async () => {
    const stage = new SchedulerStage();
    await declare(stage, 1, {});
    const { roster, events } = await started(stage);
    await stage.clock.advance(2_500);
    await declare(stage, 2, { expression: '*/5 * * * * *' });
    await roster.refresh();
    await stage.clock.advance(10_000);
    expect(await stage.ran()).toEqual([1, 2, 5, 10]);
    expect(events.of('lease.acquired')).toHaveLength(2);
    const runs = await stage.memoryLedger.runs(CRON, 10);
    expect(runs.map(({ generation }) => generation)).toEqual([2, 2, 1, 1]);
    expect(await stage.memoryLedger.skips(CRON, 10)).toEqual([]);
  });

  it('stops firing a cron that is disabled', async () => {
    const stage = new SchedulerStage();
    await declare(stage, 1, {});
    const { roster } = await started(stage);
    await stage.clock.advance(1_500);
    await stage.catalog.port.declare([{ definition: definition(), disabled: true }], 2);
    await roster.refresh();
    await stage.clock.advance(5_000);
    expect(await stage.ran()).toEqual([1]);
    expect(await stage.leases.port.inspect([CRON])).toEqual([null]);
    expect(stage.clock.pending).toBe(0);
  });

  it('keeps what it has while the catalog can not be read', async () => {
    const stage = new SchedulerStage();
    await declare(stage, 1, {});
    const { roster, events } = await started(stage);
    stage.catalog.next('read', 'fail');
    await roster.refresh();
    await stage.clock.advance(2_000);
    expect(events.of('store.trouble')).toMatchObject([{ doing: 'reading the catalog' }]);
    expect(await stage.ran()).toEqual([1, 2]);
  });

  it('tells once of a schedule it can not read, and fires the others', async () => {
    const stage = new SchedulerStage();
    await declare(stage, 1, {}, { name: 'b', timeZone: 'Mars/Phobos' });
    const { roster, events } = await started(stage);
    await roster.refresh();
    await stage.clock.advance(1_000);
    expect(events.of('catalog.unreadable')).toEqual([{ cron: 'b', error: expect.stringContaining('IANA') }]);
    expect(events.of('catalog.read')).toHaveLength(1);
    expect(await stage.ran()).toEqual([1]);
    await declare(stage, 2, { name: 'b' });
    await roster.refresh();
    await stage.clock.advance(2_000);
    expect(await stage.ran('b')).toEqual([2, 3]);
  });

  it('wakes the campaign of a cron whose lease is free, and knows nothing of others', async () => {
    const stage = new SchedulerStage();
    await declare(stage, 1, {});
    const first = await started(stage, 'first');
    const second = await started(stage, 'second');
    await first.roster.stop();
    second.roster.wake('unknown');
    second.roster.wake(CRON);
    await stage.clock.advance(0);
    expect(second.events.of('lease.acquired')).toMatchObject([{ holder: 'second/1' }]);
  });

  it('enters nothing any more once it is halted', async () => {
    const stage = new SchedulerStage();
    const { roster, events } = await started(stage);
    roster.halt();
    await declare(stage, 1, {});
    await roster.refresh();
    await stage.clock.advance(TTL_MS);
    expect(events.names).toEqual([]);
  });

  it('has stopped only when an outdated campaign has given its term up too', async () => {
    const stage = new SchedulerStage();
    await declare(stage, 1, {});
    const { roster } = await started(stage);
    let answer = () => {};
    stage.leases.next('release', { heldBack: new Promise((resolve) => (answer = resolve)) });
    await declare(stage, 2, { expression: '*/5 * * * * *' });
    const reading = roster.refresh();
    await stage.clock.advance(0);
    let stopped = false;
    const stopping = roster.stop().then(() => {
      stopped = true;
    });
    await stage.clock.advance(0);
    expect(stopped).toBe(false);
    answer();
    await Promise.all([reading, stopping]);
  });

  it('gives up the terms of a reading that was under way when it was stopped', async () => {
    const stage = new SchedulerStage();
    await declare(stage, 1, {});
    const { roster } = stage.pod();
    const reading = roster.refresh();
    const stopping = roster.stop();
    await Promise.all([reading, stopping]);
    await stage.clock.advance(TTL_MS);
    expect(await stage.leases.port.inspect([CRON])).toEqual([null]);
    expect(stage.clock.pending).toBe(0);
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
  await declare(stage, 1, { catchUpWindowMs: 3_600_000 });
  const two = [stage.pod('a'), stage.pod('b')];
  for (const pod of two) {
    await stage.leases.port.watchReleases((cron) => pod.roster.wake(cron));
    await pod.roster.refresh();
  }
  const end = START + 3_600_000;
  while (stage.clock.now() < end - 120_000) {
    await stage.clock.advance(Math.floor(random() * 60_000));
    const mishap = Math.floor(random() * 4);
    if (mishap === 0) stage.clock.jumpWall(2_500);
    else if (mishap === 1)
      stage.leases.next('renew', 'fail', 'fail', 'fail', 'fail', 'fail', 'fail', 'fail', 'fail', 'fail', 'fail');
    else if (mishap === 2) await two[random() < 0.5 ? 0 : 1]?.keeper.releaseAll();
    else stage.ledger.next('claim', 'lose-reply', 'fail');
  }
  await stage.clock.advance(end - stage.clock.now() + 500);
  const terms = two.flatMap(({ events }) => events.of('lease.acquired'));
  await Promise.all(two.map(({ engine }) => engine.stop()));
  await Promise.all(two.map(({ roster }) => roster.stop()));

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
  it.each([1, 2, 3])('account for each second exactly once while leases get lost (seed %i)', (seed) =>
    expectAnHour(seed),
  );
});
