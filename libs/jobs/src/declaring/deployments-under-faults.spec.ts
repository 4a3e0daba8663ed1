import { beforeEach, describe, expect, it } from 'vitest';
import { DeploymentStage, REMOVE_AFTER_MS } from './deployments.stage.js';

const OLD = '0 3 * * *';
const NEW = '0 4 * * *';
const THIRD = '0 5 * * *';
const MINUTE_MS = 60_000;

describe('Declarer under faults', () => {
  let stage: DeploymentStage;
  beforeEach(() => {
    stage = new DeploymentStage();
  });

  it('keeps a cron that a live pod declares which cannot reach the catalog', async () => {
    const cutOff = await stage.start({ a: OLD });
    const newer = await stage.start({ a: NEW });
    await stage.start({ b: NEW });
    // It never notes that the cron is its own again.
    cutOff.catalog.down();
    await newer.leave();
    await stage.pass(REMOVE_AFTER_MS + MINUTE_MS);
    expect(await stage.inForce()).toEqual({ a: NEW, b: NEW });
    cutOff.catalog.heal();
    await stage.pass(MINUTE_MS);
    expect(await stage.inForce()).toEqual({ a: OLD, b: NEW });
  });

  it('removes nothing while its reports get lost', async () => {
    const old = await stage.start({ a: OLD, dropped: OLD });
    const pod = await stage.start({ a: NEW });
    await old.leave();
    await stage.pass(REMOVE_AFTER_MS - MINUTE_MS);
    // The registry forgets it, and answers its questions all the same.
    pod.registry.next('report', ...Array.from({ length: 60 }, () => 'fail' as const));
    await stage.pass(4 * MINUTE_MS);
    expect(await stage.inForce()).toEqual({ a: NEW, dropped: OLD });
    await stage.pass(2 * MINUTE_MS);
    expect(await stage.inForce()).toEqual({ a: NEW });
  });

  it('leaves a name to its app for the time of a removal, however often pods come and go', async () => {
    const owner = await stage.start({ bill: OLD });
    await stage.start({ bill: NEW }, { app: 'billing' });
    await owner.leave();
    for (let n = 0; n < 4; n += 1) {
      await stage.pass(MINUTE_MS);
      const passing = await stage.start({ mail: OLD }, { app: 'mail' });
      await passing.leave();
    }
    expect(await stage.entry('bill')).toMatchObject({ app: 'shop', generation: 1 });
    await stage.pass(2 * MINUTE_MS);
    expect(await stage.entry('bill')).toMatchObject({ app: 'billing', generation: 2 });
  });

  it('removes a cron no sooner because other pods come and go', async () => {
    const old = await stage.start({ a: OLD, dropped: OLD });
    await stage.start({ a: NEW });
    await old.leave();
    for (let n = 0; n < 4; n += 1) {
      await stage.pass(MINUTE_MS);
      const passing = await stage.start({ mail: OLD }, { app: 'mail' });
      await passing.leave();
    }
    expect(await stage.inForce()).toMatchObject({ a: NEW, dropped: OLD });
    await stage.pass(2 * MINUTE_MS);
    expect(await stage.entry('dropped')).toMatchObject({
      state: 'removed',
      reason: 'no live pod declares it any more',
    });
  });

  it('tells two sets apart of which the second was given the number of the first after a loss', async () => {
    const old = await stage.start({ a: OLD, dropped: OLD });
    stage.catalog.wipe();
    stage.registry.wipe();
    const other = await stage.start({ a: NEW });
    expect(other.declarer.revision).toBe(1);
    await stage.pass(MINUTE_MS);
    expect([old.declarer.revision, other.declarer.revision]).toEqual([2, 1]);
    // Which of the two is newer is lost; that they do not take turns is not.
    expect(await stage.entry('a')).toMatchObject({ definition: { expression: OLD }, generation: 2 });
    await old.leave();
    await stage.pass(REMOVE_AFTER_MS + MINUTE_MS);
    expect(await stage.inForce()).toEqual({ a: NEW });
  });

  it('removes a cron no sooner because a newer revision that had it ended before', async () => {
    const old = await stage.start({ a: OLD, dropped: OLD });
    const canary = await stage.start({ a: NEW, dropped: OLD });
    await stage.pass(MINUTE_MS);
    canary.kill();
    await stage.pass(10_000);
    await old.leave();
    await stage.start({ a: OLD });
    await stage.pass(REMOVE_AFTER_MS - 5_000);
    expect(await stage.inForce()).toEqual({ a: OLD, dropped: OLD });
    await stage.pass(20_000);
    expect(await stage.inForce()).toEqual({ a: OLD });
  });

  it('tells a change whose answer got lost although a newer revision has the cron by now', async () => {
    await stage.start({ a: OLD });
    const pod = stage.pod({ a: NEW });
    pod.catalog.next('declare', 'lose-reply');
    await expect(pod.start()).rejects.toThrow('got lost');
    await stage.start({ a: THIRD });
    await pod.declarer.declare();
    await stage.pass(MINUTE_MS);
    expect(pod.events.of('catalog.changed')).toMatchObject([{ crons: ['a'], revision: 2 }]);
    expect(await stage.inForce()).toEqual({ a: THIRD });
    expect(await stage.entry('a')).toMatchObject({ generation: 3 });
  });
});
