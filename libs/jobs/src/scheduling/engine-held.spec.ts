import { afterEach, describe, expect, it } from 'vitest';
import { CRON, SchedulerStage, type StageOptions } from '../../../../test/support/scheduler-stage.js';

const engines: { stage: SchedulerStage; stop: () => Promise<void> }[] = [];
afterEach(async () => {
  for (const { stage, stop } of engines.splice(0)) {
    stage.ledger.heal();
    await stop();
    expect(stage.clock.pending).toBe(0);
  }
});

/** An engine that holds the cron, in the moment before its first look. */
function holding(options: StageOptions = {}, cron?: Parameters<SchedulerStage['scheduled']>[0]) {
  const stage = new SchedulerStage(options);
  const { engine, events } = stage.pod();
  const held = takenOver(stage, 1, cron);
  engine.hold([held]);
  engines.push({ stage, stop: () => engine.stop() });
  return { stage, engine, events, held };
}

/** A cron of which nothing is known yet. */
function takenOver(stage: SchedulerStage, fence = 1, cron?: Parameters<SchedulerStage['scheduled']>[0]) {
  return { ...stage.heldCron(fence, stage.scheduled(cron)), known: false };
}

describe('an engine that lets a cron go', () => {
  it('has waited for the claim that was on its way: the next holder finds nothing half done', async () => {
    const { stage, engine, held } = holding();
    await stage.clock.advance(500);
    let answer = () => {};
    stage.ledger.next('claimAll', { heldBack: new Promise((resolve) => (answer = resolve)) });
    await stage.clock.advance(500);
    let gone = false;
    const letGo = engine.letGo([held]).then(() => {
      gone = true;
    });
    await stage.clock.advance(5_000);
    expect(gone).toBe(false);
    answer();
    await letGo;
    expect(await stage.memoryLedger.pending(CRON)).toEqual([]);
    expect(await stage.ran()).toEqual([1]);
  });
});

describe('a cron that is held', () => {
  it('has its next instant announced after each, all that were due together in one call', async () => {
    const { stage, engine } = holding();
    engine.hold([takenOver(stage, 1, { name: 'b' })]);
    await stage.clock.advance(0);
    stage.membership.calls.length = 0;
    await stage.clock.advance(3_000);
    expect(stage.membership.calls).toEqual(['publishDue', 'publishDue', 'publishDue']);
    await stage.clock.advance(900);
    expect((await stage.membership.port.heartbeat('watch')).overdue).toEqual([]);
    await engine.stop();
    await stage.clock.advance(1_000);
    expect((await stage.membership.port.heartbeat('watch')).overdue.map(({ cron }) => cron).toSorted()).toEqual([
      'b',
      CRON,
    ]);
  });

  it('is swept once something was claimed for it, and only asked about before', async () => {
    const { stage, engine } = holding({}, { expression: '0 0 1 6 *' });
    engine.start();
    await stage.clock.advance(5_000);
    expect(stage.ledger.calls).toContain('withOpenRuns');
    expect(stage.ledger.calls).not.toContain('overdueAll');
    const claimed = holding();
    claimed.engine.start();
    await claimed.stage.clock.advance(5_000);
    expect(claimed.stage.ledger.calls).toContain('overdueAll');
  });

  it('does not wait for an announcement that hangs, and has the later ones merged', async () => {
    const { stage } = holding();
    await stage.clock.advance(500);
    let answer = () => {};
    stage.membership.next('publishDue', { heldBack: new Promise((resolve) => (answer = resolve)) });
    stage.membership.calls.length = 0;
    await stage.clock.advance(5_000);
    expect(await stage.ran()).toEqual([1, 2, 3, 4, 5]);
    expect(stage.membership.calls).toEqual(['publishDue']);
    answer();
    await stage.clock.advance(0);
    expect(stage.membership.calls).toEqual(['publishDue', 'publishDue']);
  });
});
