import { beforeEach, describe, expect, it } from 'vitest';
import { cron, DeploymentStage, type StagedPod } from './deployments.stage.js';

const ANA = { by: 'ana', reason: null };
const HALF_HOUR_MS = 30 * 60_000;

describe('Declarer of one pod', () => {
  let stage: DeploymentStage;
  let pod: StagedPod;

  const declarations = () => pod.catalog.calls.filter((call) => call === 'declare').length;

  beforeEach(async () => {
    stage = new DeploymentStage();
    pod = await stage.start({ a: '0 3 * * *', b: '0 3 * * *' });
    // What it wrote itself is looked at once more.
    await pod.tick();
    pod.catalog.calls.splice(0);
  });

  it('makes one call, and declares nothing, while the catalog has what was declared', async () => {
    await pod.tick();
    await pod.tick();
    expect(pod.catalog.calls).toEqual(['since', 'since']);
  });

  it('makes no call while it hears the version of the catalog that it has looked at', async () => {
    stage.heardVersion = stage.catalog.version;
    await pod.tick();
    await stage.catalog.put(cron('a', '0 4 * * *'), { ...ANA, expected: 1 });
    await pod.tick();
    expect(pod.catalog.calls).toEqual([]);
    stage.heardVersion = stage.catalog.version;
    await pod.tick();
    expect(declarations()).toBe(1);
  });

  it('declares nothing after a change of crons of others', async () => {
    await stage.catalog.put(cron('c'), { ...ANA, expected: null });
    await pod.tick();
    await pod.tick();
    expect(declarations()).toBe(0);
  });

  it('declares again after a change of one of its own, once, and lets the change stand', async () => {
    await stage.catalog.put(cron('a', '0 4 * * *'), { ...ANA, expected: 1 });
    for (let n = 0; n < 3; n += 1) await pod.tick();
    expect(declarations()).toBe(1);
    expect(await stage.inForce()).toMatchObject({ a: '0 4 * * *' });
  });

  it('declares again when the catalog was lost, and says so', async () => {
    stage.catalog.wipe();
    await pod.tick();
    expect(Object.keys(await stage.inForce())).toEqual(['a', 'b']);
    expect(pod.events.of('catalog.redeclared')).toMatchObject([
      { crons: ['a', 'b'], count: 2, app: 'shop', revision: 1 },
    ]);
  });

  it('declares again after half an hour', async () => {
    await stage.clock.advance(HALF_HOUR_MS - 1);
    await pod.tick();
    expect(declarations()).toBe(0);
    await stage.clock.advance(1);
    await pod.tick();
    expect(declarations()).toBe(1);
  });

  it('declares again when it is told that what it held back may be written', async () => {
    pod.declarer.forget();
    await pod.tick();
    expect(declarations()).toBe(1);
  });

  it('restores at once what an operator removed, and says so once', async () => {
    await stage.catalog.remove('a', { ...ANA, expected: 1 });
    await pod.tick();
    await pod.tick();
    expect(await stage.inForce()).toMatchObject({ a: '0 3 * * *' });
    expect(pod.events.of('catalog.restored')).toMatchObject([{ crons: ['a'], count: 1 }]);
  });

  it('says once what came of its declarations, and names at most twenty crons', async () => {
    expect(pod.events.of('catalog.declared')).toEqual([
      { app: 'shop', revision: 1, declared: 2, changed: 2, superseded: 0 },
    ]);
    const many = Array.from({ length: 30 }, (_, n) => [`cron-${n}`, '0 3 * * *'] as const);
    const [large] = [await stage.start(Object.fromEntries(many), { app: 'many' })];
    expect(large.events.of('catalog.created')).toMatchObject([{ count: 30, app: 'many' }]);
    expect(large.events.of('catalog.created')[0]?.crons).toHaveLength(20);
    await stage.pass(60_000);
    expect(large.events.names.filter((name) => name.startsWith('catalog.'))).toEqual([
      'catalog.declared',
      'catalog.created',
    ]);
  });

  it('goes on after a store did not answer', async () => {
    stage.catalog.wipe();
    pod.catalog.next('declare', 'fail');
    await pod.tick();
    expect(await stage.inForce()).toEqual({});
    await pod.tick();
    expect(Object.keys(await stage.inForce())).toEqual(['a', 'b']);
  });
});
