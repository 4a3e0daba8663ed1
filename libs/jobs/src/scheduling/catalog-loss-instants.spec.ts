import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CRON, SchedulerStage, type StagePod } from '../../../../test/support/scheduler-stage.js';
import { audit } from '@fencepost/operations/audit';

/* The ledger outlives the catalog, as with PostgreSQL and a Redis that is wiped. */
const SECOND = 1_000;
const HOUR = 3_600 * SECOND;
const DAY = 24 * HOUR;
const DAILY = { expression: '10 0 0 * * *', graceMs: SECOND } as const;
const HOURLY = { expression: '0 0 * * * *', misfire: 'fire-all', graceMs: SECOND, catchUpWindowMs: 3 * HOUR } as const;

let stage: SchedulerStage;
let pods: StagePod[];
beforeEach(() => {
  [stage, pods] = [new SchedulerStage(), []];
});
afterEach(leave);

async function start(...names: readonly string[]): Promise<void> {
  for (const name of names) {
    const pod = stage.pod(name);
    pods.push(pod);
    await pod.start();
  }
}

async function leave(): Promise<void> {
  await Promise.all(pods.splice(0).map((pod) => pod.stop()));
}

const serve = (ms: number) => stage.clock.advance(ms);

/** Nobody is there for so long. */
async function outage(ms: number): Promise<void> {
  await leave();
  await serve(ms);
}

/** Reason and generation of each run, by its second since the start. */
async function reasons(): Promise<Record<number, string>> {
  const runs = await stage.memoryLedger.runs(CRON, 100);
  const began = await stage.ran();
  return Object.fromEntries(
    runs.toReversed().map(({ reason, generation }, n) => [began[n], `${reason} ${generation}`]),
  );
}

async function skips(): Promise<string[]> {
  return (await stage.memoryLedger.skips(CRON, 100)).map(({ reason }) => reason).toReversed();
}

/** Which knows nothing of why a pod planned what it did. */
async function expectSound(): Promise<void> {
  const { catalog, membership, clock, memoryLedger: ledger } = stage;
  await serve(10 * SECOND);
  const report = await audit({ catalog: catalog.port, ledger, membership: membership.port, clock }, { from: 0 });
  expect(report.findings).toEqual([]);
  expect(report.notCovered).toEqual([]);
}

/** The first day has run, and it is five seconds before the second. */
async function dayBefore(...podNames: readonly string[]): Promise<void> {
  await start('first');
  await serve(12 * SECOND);
  await outage(DAY - 7 * SECOND);
  await start(...podNames);
  await serve(1 * SECOND);
}

describe('what comes due while the catalog is lost', () => {
  it('runs once, late, as soon as the cron is declared again', async () => {
    await stage.declare(1, DAILY);
    await dayBefore('pod');
    stage.memoryCatalog.wipe();
    await serve(12 * SECOND);
    expect(await reasons()).toEqual({ 10: 'schedule 1' });
    await stage.declare(1, DAILY);
    await serve(5 * SECOND);
    expect(await reasons()).toEqual({ 10: 'schedule 1', 86_410: 'catch-up 1' });
    expect(await skips()).toEqual([]);
    await expectSound();
  });

  it('runs once with two pods, and under a generation that the ledger accepts', async () => {
    await stage.declare(1, HOURLY);
    await stage.declare(2, DAILY);
    await dayBefore('one', 'two');
    stage.memoryCatalog.wipe();
    await serve(12 * SECOND);
    await stage.declare(2, DAILY);
    await serve(30 * SECOND);
    expect(await reasons()).toEqual({ 10: 'schedule 2', 86_410: 'catch-up 3' });
    expect(await skips()).toEqual([]);
    await expectSound();
  });

  it('is made up for under the first of two new generations, when the ledger has accepted the number of the second', async () => {
    await stage.declare(1, HOURLY);
    await stage.declare(2, DAILY);
    await dayBefore();
    stage.memoryCatalog.wipe();
    await serve(12 * SECOND);
    await stage.declare(2, DAILY);
    await stage.declare(3, { ...DAILY, misfire: 'skip' });
    await start('one', 'two');
    await serve(30 * SECOND);
    expect(await reasons()).toEqual({ 10: 'schedule 2', 86_410: 'catch-up 4' });
    expect((await stage.catalog.port.read()).entries).toMatchObject([{ generation: 5, past: [{ generation: 4 }] }]);
    await expectSound();
  });

  it('is bounded by the catch-up window, and what is older has its reason', async () => {
    await stage.declare(1, HOURLY);
    await start('first');
    await serve(HOUR + SECOND);
    await outage(7 * DAY);
    stage.memoryCatalog.wipe();
    await stage.declare(1, HOURLY);
    await start('pod');
    await serve(30 * SECOND);
    const hours = (await stage.ran()).map((second) => second / 3_600);
    expect(hours).toEqual([1, 167, 168, 169]);
    expect(new Set(await skips())).toEqual(new Set(['misfire']));
    await expectSound();
  });
});

describe('nothing is made up for of', () => {
  it('a cron that was removed and forgotten, and is declared again', async () => {
    const other = { ...HOURLY, name: 'other' };
    await stage.declare(1, HOURLY, other);
    await start('first');
    await serve(HOUR + SECOND);
    await stage.declare(2, other);
    await outage(DAY + SECOND);
    await stage.declare(3, other);
    expect((await stage.catalog.port.read()).entries).toHaveLength(1);
    await stage.declare(4, HOURLY, other);
    await start('pod');
    await serve(HOUR);
    expect((await stage.ran()).map((second) => second / 3_600)).toEqual([1, 26]);
    expect(await skips()).toEqual(['superseded']);
  });

  it('a cron that is new in a catalog that was lost', async () => {
    await stage.declare(1, { ...HOURLY, name: 'other' });
    await outage(3 * HOUR + SECOND);
    stage.memoryCatalog.wipe();
    await stage.declare(2, HOURLY);
    await start('pod');
    await serve(HOUR);
    expect((await stage.ran()).map((second) => second / 3_600)).toEqual([4]);
    expect(await skips()).toEqual([]);
  });
});
