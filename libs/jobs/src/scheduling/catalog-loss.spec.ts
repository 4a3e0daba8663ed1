import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MemoryCatalog } from '@fencepost/ledger/memory';
import { CRON, definition, SchedulerStage, type StagePod } from '../../../../test/support/scheduler-stage.js';

let stage: SchedulerStage;
let pod: StagePod;
beforeEach(() => {
  stage = new SchedulerStage();
  pod = stage.pod();
});
afterEach(async () => {
  await pod.stop();
});

describe('a catalog that was lost, and counts its generations anew', () => {
  it('outgrows what the ledger has accepted, so that the cron goes on', async () => {
    const { ledger } = stage;
    const lease = stage.lease(1).held;
    const occurrence = {
      scheduledAt: stage.clock.now(),
      dueAt: stage.clock.now(),
      reason: 'schedule',
      missed: null,
    } as const;
    const by = { cron: CRON, fence: lease.fence, term: lease.nonce, holder: 'other/1', nonce: 'decision' };
    await ledger.port.claim({ ...by, generation: 7, cursor: null, skips: [], occurrence, overlap: 'allow' });
    await stage.declare(1, {});

    await pod.start();
    await stage.clock.advance(12_000);
    expect((await stage.catalog.port.read()).entries).toMatchObject([{ generation: 8 }]);
    expect(pod.events.of('claim.outdated')).toEqual([{ cron: CRON, generation: 1, accepted: 7 }]);
    expect((await stage.ran()).length).toBeGreaterThanOrEqual(8);
  });

  it('has nothing to outgrow when it is ahead, or does not know the cron', async () => {
    const catalog = new MemoryCatalog(stage.clock);
    await catalog.outgrow(CRON, 7);
    expect((await catalog.read()).entries).toEqual([]);
    await catalog.declare([{ definition: definition(), disabled: false }], { app: 'test', revision: 1 });
    await catalog.outgrow(CRON, 1);
    expect((await catalog.read()).entries).toMatchObject([{ generation: 1 }]);
  });
});

describe('a catalog has nothing to outgrow', () => {
  it('when what the ledger has accepted is its own: the pod was only late', async () => {
    await stage.declare(1, {});
    await pod.start();
    await stage.clock.advance(1_500);
    await stage.declare(2, { graceMs: 1_000 });
    // Of the former generation, then of the new one.
    for (const ms of [1_000, 5_000]) {
      await stage.clock.advance(ms);
      const [entry] = (await stage.catalog.port.read()).entries;
      if (entry) await pod.catalogCache.catchUp(entry);
      expect((await stage.catalog.port.read()).entries).toMatchObject([{ generation: 2, past: [{ generation: 1 }] }]);
    }
    expect((await stage.memoryLedger.readCron(CRON)).generation).toBe(2);
  });

  it('while its own first generation makes up for what came due before', async () => {
    const instant = stage.clock.now() - 1_000;
    const { held: lease } = stage.lease(1);
    await stage.declare(1, {});
    await stage.declare(2, { graceMs: 1_000 });
    const occurrence = { scheduledAt: instant, dueAt: instant, reason: 'catch-up', missed: null } as const;
    const by = { cron: CRON, fence: lease.fence, term: lease.nonce, holder: 'other/1', nonce: 'decision' };
    await stage.ledger.port.claim({ ...by, generation: 1, cursor: null, skips: [], occurrence, overlap: 'allow' });
    const [entry] = (await stage.catalog.port.read()).entries;
    if (entry) await pod.catalogCache.catchUp(entry);
    expect((await stage.catalog.port.read()).entries).toMatchObject([{ generation: 2 }]);
  });
});
