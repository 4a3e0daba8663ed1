import { beforeEach, describe, expect, it } from 'vitest';
import { DeploymentStage, REMOVE_AFTER_MS } from './deployments.stage.js';

const OLD = '0 3 * * *';
const NEW = '0 4 * * *';
const THIRD = '0 5 * * *';
const MINUTE_MS = 60_000;

describe('Declarer', () => {
  let stage: DeploymentStage;
  beforeEach(() => {
    stage = new DeploymentStage();
  });

  /** Two pods of each of two revisions, the second one in force. */
  async function rolledOut() {
    const olds = [
      await stage.start({ a: OLD, kept: OLD, dropped: OLD }),
      await stage.start({ a: OLD, kept: OLD, dropped: OLD }),
    ];
    await stage.pass(MINUTE_MS);
    const news = [
      await stage.start({ a: NEW, kept: OLD, added: NEW }),
      await stage.start({ a: NEW, kept: OLD, added: NEW }),
    ];
    return { olds, news };
  }

  it('puts a new revision in force with its first pod, and keeps the crons that only the former one has', async () => {
    await stage.start({ a: OLD, dropped: OLD });
    await stage.start({ a: NEW, added: NEW });
    expect(await stage.inForce()).toEqual({ a: NEW, added: NEW, dropped: OLD });
    expect(await stage.entry('a')).toMatchObject({ generation: 2, by: 'shop revision 2', reason: null });
    await stage.pass(10 * MINUTE_MS);
    expect(await stage.inForce()).toEqual({ a: NEW, added: NEW, dropped: OLD });
  });

  it('removes a cron five minutes after the last pod that declares it is gone, not before', async () => {
    const { olds } = await rolledOut();
    await stage.pass(MINUTE_MS);
    for (const pod of olds) await pod.leave();
    await stage.pass(REMOVE_AFTER_MS - 10_000);
    expect(Object.keys(await stage.inForce())).toContain('dropped');
    await stage.pass(15_000);
    expect(await stage.inForce()).toEqual({ a: NEW, added: NEW, kept: OLD });
    expect(await stage.entry('dropped')).toMatchObject({
      ...{ state: 'removed', by: 'shop revision 2', reason: 'no live pod declares it any more' },
    });
  });

  it('restores a cron that a pod declares again, as a new generation', async () => {
    const { olds } = await rolledOut();
    for (const pod of olds) await pod.leave();
    await stage.pass(REMOVE_AFTER_MS + 10_000);
    await stage.start({ a: OLD, kept: OLD, dropped: OLD });
    expect(await stage.inForce()).toEqual({ a: NEW, added: NEW, kept: OLD, dropped: OLD });
    expect(await stage.entry('dropped')).toMatchObject({ generation: 3, reason: 'declared again' });
  });

  it('rolls back when the last pod of the newer revision is gone, after the settle time', async () => {
    const { olds, news } = await rolledOut();
    await olds[0]?.leave();
    const back = await stage.start({ a: OLD, kept: OLD, dropped: OLD });
    await news[0]?.leave();
    await stage.pass(30_000);
    expect(await stage.inForce()).toMatchObject({ a: NEW });
    expect(back.events.of('catalog.superseded')).toMatchObject([{ crons: ['a', 'kept'], by: [2] }]);
    await news[1]?.leave();
    await stage.pass(5_000);
    expect(await stage.inForce()).toMatchObject({ a: NEW });
    await stage.pass(10_000);
    expect(await stage.inForce()).toEqual({ a: OLD, kept: OLD, dropped: OLD, added: NEW });
    expect(await stage.entry('a')).toMatchObject({
      ...{ generation: 3, by: 'shop revision 1', reason: 'the newer revision has no live pod any more' },
    });
    await stage.pass(REMOVE_AFTER_MS);
    expect(await stage.inForce()).toEqual({ a: OLD, kept: OLD, dropped: OLD });
  });

  it('rolls back after the pods of the newer revision were killed', async () => {
    const { news } = await rolledOut();
    for (const pod of news) pod.kill();
    await stage.pass(30_000);
    expect(await stage.inForce()).toMatchObject({ a: OLD });
  });

  it('leaves a straggler that restarts while newer pods live without a say', async () => {
    const { olds } = await rolledOut();
    for (const pod of olds) await pod.leave();
    const straggler = await stage.start({ a: OLD, kept: OLD, dropped: OLD });
    await stage.pass(5 * MINUTE_MS);
    expect(await stage.inForce()).toEqual({ a: NEW, added: NEW, kept: OLD, dropped: OLD });
    expect(straggler.declarer.revision).toBe(1);
    expect(await stage.entry('a')).toMatchObject({ generation: 2 });
  });

  it('begins no generation when pods of the newer revision restart within the settle time', async () => {
    const { news } = await rolledOut();
    for (const pod of news) await pod.leave();
    await stage.pass(8_000);
    await stage.start({ a: NEW, kept: OLD, added: NEW });
    await stage.pass(MINUTE_MS);
    expect(await stage.entry('a')).toMatchObject({ generation: 2 });
  });

  it('chooses the newest of several live revisions that has the cron', async () => {
    await stage.start({ a: OLD });
    await stage.start({ a: NEW, b: NEW });
    const third = await stage.start({ b: THIRD });
    expect(await stage.inForce()).toEqual({ a: NEW, b: THIRD });
    const fourth = await stage.start({ a: THIRD });
    expect(await stage.inForce()).toEqual({ a: THIRD, b: THIRD });
    await fourth.leave();
    await third.leave();
    await stage.pass(MINUTE_MS);
    expect(await stage.inForce()).toEqual({ a: NEW, b: NEW });
    // Not through the oldest, which was asked first.
    expect(await stage.entry('a')).toMatchObject({ generation: 4, by: 'shop revision 2' });
  });

  it('takes an explicit revision for the order', async () => {
    await stage.start({ a: OLD }, { explicit: 43 });
    const lower = await stage.start({ a: NEW }, { explicit: 42 });
    expect(await stage.inForce()).toEqual({ a: OLD });
    expect(lower.events.of('catalog.superseded')).toMatchObject([{ revision: 42, by: [43] }]);
    await stage.start({ a: OLD }, { explicit: 44 });
    await stage.start({ a: NEW }, { explicit: 45 });
    expect(await stage.inForce()).toEqual({ a: NEW });
    // The set of 43 under a higher number: a rollback that takes effect with its first pod.
    await stage.start({ a: OLD }, { explicit: 46 });
    expect(await stage.inForce()).toEqual({ a: OLD });
  });

  it('changes nothing while its app has no live pod, and goes on a day later', async () => {
    const { olds, news } = await rolledOut();
    for (const pod of [...olds, ...news]) await pod.leave();
    await stage.pass(24 * 60 * MINUTE_MS);
    expect(await stage.inForce()).toEqual({ a: NEW, added: NEW, kept: OLD, dropped: OLD });
    await stage.start({ a: NEW, kept: OLD, added: NEW });
    expect(await stage.inForce()).toEqual({ a: NEW, added: NEW, kept: OLD, dropped: OLD });
    await stage.pass(10_000);
    expect(await stage.inForce()).toEqual({ a: NEW, added: NEW, kept: OLD });
  });

  it('keeps the crons of pods that are cut off for a minute, and takes nothing back when they return', async () => {
    const { news } = await rolledOut();
    for (const pod of news) pod.cutOff();
    await stage.pass(MINUTE_MS);
    expect(await stage.inForce()).toEqual({ a: OLD, kept: OLD, added: NEW, dropped: OLD });
    for (const pod of news) pod.heal();
    await stage.pass(10_000);
    expect(await stage.inForce()).toEqual({ a: NEW, kept: OLD, added: NEW, dropped: OLD });
  });

  it('judges nobody while its own pod is cut off from the registry', async () => {
    const { olds, news } = await rolledOut();
    for (const pod of olds) pod.registry.down();
    for (const pod of news) await pod.leave();
    await stage.pass(10 * MINUTE_MS);
    expect(await stage.inForce()).toMatchObject({ a: NEW, added: NEW });
  });

  it('removes nothing because the registry was lost', async () => {
    const { olds } = await rolledOut();
    await stage.pass(MINUTE_MS);
    stage.registry.wipe();
    await stage.pass(10 * MINUTE_MS);
    expect(await stage.inForce()).toEqual({ a: NEW, added: NEW, kept: OLD, dropped: OLD });
    expect(await stage.entry('a')).toMatchObject({ generation: 2 });
    expect(olds).toHaveLength(2);
  });

  it('declares again after the catalog was lost', async () => {
    const { olds, news } = await rolledOut();
    stage.catalog.wipe();
    await stage.pass(15_000);
    expect(await stage.inForce()).toEqual({ a: NEW, added: NEW, kept: OLD, dropped: OLD });
    const redeclared = [...olds, ...news].flatMap((pod) => pod.events.of('catalog.redeclared'));
    expect(new Set(redeclared.flatMap(({ crons }) => crons))).toEqual(new Set(['a', 'added', 'dropped', 'kept']));
    // The numbers are those of before: the order of the revisions is not lost.
    expect((await stage.catalog.revisions.of('shop')).map(({ revision }) => revision)).toEqual([1, 2]);
    const third = await stage.start({ a: THIRD });
    expect(third.declarer.revision).toBe(3);
  });

  it('numbers a set above every live revision although the catalog was lost a moment ago', async () => {
    await rolledOut();
    stage.catalog.wipe();
    const third = await stage.start({ a: THIRD });
    expect(third.declarer.revision).toBe(3);
    await stage.pass(15_000);
    expect(await stage.inForce()).toMatchObject({ a: THIRD, added: NEW });
  });

  it('leaves a canary of one in ten in force for an hour, without a change in between', async () => {
    for (let n = 0; n < 9; n += 1) await stage.start({ a: OLD, dropped: OLD });
    const canary = await stage.start({ a: NEW });
    await stage.pass(60 * MINUTE_MS);
    expect(await stage.inForce()).toEqual({ a: NEW, dropped: OLD });
    expect(await stage.entry('a')).toMatchObject({ generation: 2 });
    await canary.leave();
    await stage.pass(20_000);
    expect(await stage.inForce()).toEqual({ a: OLD, dropped: OLD });
  });

  it('starts each of three replicas whose schedule is computed at load, and says that they differ', async () => {
    const pods = [];
    for (const minute of ['1 * * * *', '2 * * * *', '3 * * * *'])
      pods.push(await stage.start({ hourly: minute }, { code: 'one' }));
    expect(await stage.inForce()).toEqual({ hourly: '3 * * * *' });
    expect(pods[1]?.events.of('catalog.differs')).toMatchObject([{ crons: ['hourly'], revision: 2, other: 1 }]);
    expect(pods[2]?.events.of('catalog.differs').map(({ other }) => other)).toEqual([2, 1]);
    await stage.pass(MINUTE_MS);
    expect(await stage.entry('hourly')).toMatchObject({ generation: 3 });
  });

  it('tells of a change whose reply got lost, once', async () => {
    await stage.start({ a: OLD, dropped: OLD });
    const pod = stage.pod({ a: NEW });
    pod.catalog.next('declare', 'lose-reply');
    await expect(pod.start()).rejects.toThrow('got lost');
    await pod.declarer.declare();
    expect(pod.events.of('catalog.changed')).toMatchObject([{ crons: ['a'] }]);
    await stage.pass(MINUTE_MS);
    expect(pod.events.of('catalog.changed')).toHaveLength(1);
  });

  it('tells of a removal whose reply got lost, once', async () => {
    const old = await stage.start({ a: OLD, dropped: OLD });
    const pod = await stage.start({ a: NEW });
    await old.leave();
    pod.catalog.next('drop', 'lose-reply');
    await stage.pass(REMOVE_AFTER_MS + MINUTE_MS);
    expect(pod.events.of('catalog.removed')).toMatchObject([{ crons: ['dropped'] }]);
    expect(pod.events.of('catalog.removed')).toHaveLength(1);
  });

  it('does not call a deploy of other code a difference', async () => {
    await stage.start({ a: OLD }, { code: 'one' });
    const newer = await stage.start({ a: NEW }, { code: 'two' });
    await stage.pass(MINUTE_MS);
    expect(newer.events.of('catalog.differs')).toEqual([]);
    expect(newer.events.of('catalog.app-shared')).toEqual([]);
  });

  it('says when the pods of a revision come and go', async () => {
    const old = await stage.start({ a: OLD });
    for (let n = 0; n < 3; n += 1) {
      const crashing = await stage.start({ a: NEW });
      await stage.pass(10_000);
      crashing.kill();
      await stage.pass(20_000);
    }
    expect(old.events.of('revision.unstable')).toEqual([{ app: 'shop', revision: 2, pods: 3 }]);
    expect(await stage.inForce()).toEqual({ a: OLD });
  });

  it('removes the last cron of an app whose pods declare none any more', async () => {
    const old = await stage.start({ a: OLD });
    await stage.start({});
    await old.leave();
    await stage.pass(REMOVE_AFTER_MS + 10_000);
    expect(await stage.inForce()).toEqual({});
  });

  it('asks the catalog with two pods of a revision, whatever their number, and once each while nothing changes', async () => {
    const pods = [];
    for (let n = 0; n < 5; n += 1) pods.push(await stage.start({ a: OLD }));
    await stage.pass(MINUTE_MS);
    for (const { catalog, registry } of pods) for (const { calls } of [catalog, registry]) calls.splice(0);
    await stage.pass(MINUTE_MS);
    expect(pods.map(({ catalog }) => catalog.calls.length)).toEqual([12, 12, 0, 0, 0]);
    expect(new Set(pods.flatMap(({ registry }) => registry.calls))).toEqual(new Set(['report']));
  });
});
