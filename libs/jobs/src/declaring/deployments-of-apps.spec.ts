import { beforeEach, describe, expect, it } from 'vitest';
import { DeploymentStage, REMOVE_AFTER_MS } from './deployments.stage.js';

const OLD = '0 3 * * *';
const NEW = '0 4 * * *';
const MINUTE_MS = 60_000;

describe('Declarer of several apps', () => {
  let stage: DeploymentStage;
  beforeEach(() => {
    stage = new DeploymentStage();
  });

  it('loses nothing of two programs with one app name, whichever restarts', async () => {
    const mail = { mail: OLD };
    const report = { report: OLD };
    const first = await stage.start(mail);
    const second = await stage.start(report);
    await stage.pass(10 * MINUTE_MS);
    expect(await stage.inForce()).toEqual({ mail: OLD, report: OLD });
    expect(second.events.of('catalog.app-shared')).toMatchObject([{ app: 'shop', crons: ['mail'], other: 1 }]);
    await first.leave();
    await stage.pass(MINUTE_MS);
    await stage.start(mail);
    await second.leave();
    await stage.start({ report: NEW });
    await stage.pass(10 * MINUTE_MS);
    expect(await stage.inForce()).toEqual({ mail: OLD, report: NEW });
  });

  it('removes the crons of a program under a shared app name after a while without its pods, and restores them', async () => {
    const first = await stage.start({ mail: OLD });
    await stage.start({ report: OLD });
    await first.leave();
    await stage.pass(REMOVE_AFTER_MS + 10_000);
    expect(await stage.inForce()).toEqual({ report: OLD });
    await stage.start({ mail: OLD });
    expect(await stage.inForce()).toEqual({ mail: OLD, report: OLD });
  });

  it('leaves a name to the app that declared it first, and takes it over when no pod of that app declares it', async () => {
    const owner = await stage.start({ bill: OLD, own: OLD });
    const other = await stage.start({ bill: NEW, mail: OLD }, { app: 'billing' });
    expect(await stage.inForce()).toEqual({ bill: OLD, own: OLD, mail: OLD });
    expect(other.events.of('catalog.foreign')).toMatchObject([{ crons: ['bill'], owners: ['shop'] }]);
    await stage.start({ own: OLD });
    await owner.leave();
    await stage.pass(REMOVE_AFTER_MS - 10_000);
    expect(await stage.entry('bill')).toMatchObject({ app: 'shop', generation: 1 });
    await stage.pass(20_000);
    expect(await stage.entry('bill')).toMatchObject({
      app: 'billing',
      state: 'active',
      definition: { expression: NEW },
    });
    expect(other.events.of('catalog.foreign')).toHaveLength(1);
  });

  it('takes a name over from an app that is gone as a whole', async () => {
    const owner = await stage.start({ bill: OLD });
    const other = await stage.start({ bill: NEW }, { app: 'billing' });
    await owner.leave();
    await stage.pass(REMOVE_AFTER_MS + 10_000);
    expect(await stage.entry('bill')).toMatchObject({
      ...{ app: 'billing', generation: 2, by: 'billing revision 1' },
      reason: 'no live pod of the app it belonged to declares it any more',
    });
    expect(other.events.of('catalog.taken')).toMatchObject([{ crons: ['bill'] }]);
    // It belongs to the second app from now on.
    const back = await stage.start({ bill: OLD });
    expect(back.events.of('catalog.foreign')).toMatchObject([{ owners: ['billing'] }]);
  });

  it('does not take a name over while another live revision of its owner declares it', async () => {
    // Older by number, and it never gets to note that the cron is its own.
    const straggler = await stage.start({ bill: NEW });
    const newer = await stage.start({ bill: NEW, x: OLD });
    straggler.catalog.down();
    await stage.start({ bill: OLD }, { app: 'billing' });
    await newer.leave();
    await stage.pass(REMOVE_AFTER_MS + 60_000);
    expect(await stage.entry('bill')).toMatchObject({ app: 'shop' });
  });
});

describe('Declarer beside a former release', () => {
  const stage = new DeploymentStage();

  it('keeps the crons of its processes until they have been gone for the time of a removal', async () => {
    stage.lowestFormat = 3;
    // As a former process wrote it: the time of its files in place of a revision.
    await stage.catalog.declare([], { app: 'shop', revision: 1 });
    await stage.catalog.declare(
      [...new Map([['former', OLD]])].map(([name, expression]) => ({
        definition: {
          ...{ name, expression, timeZone: 'UTC', misfire: 'fire-once', overlap: 'skip', graceMs: 60_000 },
          catchUpWindowMs: null,
        },
        disabled: false,
      })),
      { app: 'shop/worker', revision: 17_957_823_017.16 },
    );
    expect(await stage.entry('former')).toMatchObject({ app: 'shop/worker', revision: null });
    await stage.start({ a: NEW });
    await stage.pass(10 * MINUTE_MS);
    expect(await stage.inForce()).toEqual({ a: NEW, former: OLD });
    stage.lowestFormat = 4;
    await stage.pass(REMOVE_AFTER_MS - 10_000);
    expect(await stage.inForce()).toEqual({ a: NEW, former: OLD });
    await stage.pass(20_000);
    expect(await stage.inForce()).toEqual({ a: NEW });
  });
});
