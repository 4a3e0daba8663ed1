import { afterEach, describe, expect, it } from 'vitest';
import { CRON, definition, SchedulerStage } from '../../../../test/support/scheduler-stage.js';
import { MemoryCatalog } from '../catalog/memory-catalog.js';

const stage = new SchedulerStage();
const pod = stage.pod();
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
    await catalog.declare([{ definition: definition(), disabled: false }], { seq: 1, source: 'test' });
    await catalog.outgrow(CRON, 1);
    expect((await catalog.read()).entries).toMatchObject([{ generation: 1 }]);
  });
});
