import { ManualClock } from '@fencepost/lease/testing';
import { expect, describe, it } from 'vitest';
import { BalanceStage, type SchedulerStage, type StagePod } from '../../../../test/support/scheduler-stage.js';
import { recordedEvents } from '../../../../test/support/recorded.js';
import { HEARTBEAT_MS } from '../membership/membership.js';
import { Telemetry } from '../telemetry/telemetry.js';
import { BEHIND_MS, BehindWatch, RESTORE_AFTER_MS, SHED_AFTER_MS, type Behind } from './behind-watch.js';

const IN_TIME = { lateMs: 0, crons: 0 };
const BEHIND = { lateMs: BEHIND_MS + 1, crons: 7 };

/** Looks once a second for as long as told. @returns the weight after it */
function watching() {
  const [clock, telemetry] = [new ManualClock(0), new Telemetry()];
  let found: Behind = IN_TIME;
  const watch = new BehindWatch({ engine: { behind: () => found }, clock, telemetry });
  const during = async (behind: Behind, forMs: number) => {
    found = behind;
    let weight = watch.look();
    for (let ms = 0; ms < forMs; ms += HEARTBEAT_MS) {
      await clock.advance(HEARTBEAT_MS);
      weight = watch.look();
    }
    return weight;
  };
  return { events: recordedEvents(telemetry), during };
}

describe('a pod that is behind', () => {
  it('says so once, and once that it has caught up, with the most that there was', async () => {
    const { events, during } = watching();
    await during({ lateMs: BEHIND_MS, crons: 7 }, 3_000);
    expect(events.names).toEqual([]);
    await during(BEHIND, 3_000);
    await during({ lateMs: 4_000, crons: 3 }, 3_000);
    expect(events.of('pod.behind')).toEqual([BEHIND]);
    await during(IN_TIME, 3_000);
    expect(events.of('pod.caught-up')).toEqual([{ lateMs: 4_000, crons: 7 }]);
    expect(events.names).toEqual(['pod.behind', 'pod.caught-up']);
  });

  it('keeps its share through a burst', async () => {
    const { during } = watching();
    expect(await during(BEHIND, SHED_AFTER_MS - HEARTBEAT_MS)).toBe(1);
    expect(await during(IN_TIME, SHED_AFTER_MS)).toBe(1);
    expect(await during(BEHIND, SHED_AFTER_MS - HEARTBEAT_MS)).toBe(1);
  });

  it('halves its share for as long as it is behind, to a quarter at least', async () => {
    const { during } = watching();
    expect(await during(BEHIND, SHED_AFTER_MS)).toBe(1 / 2);
    expect(await during(BEHIND, SHED_AFTER_MS)).toBe(1 / 4);
    expect(await during(BEHIND, 5 * SHED_AFTER_MS)).toBe(1 / 4);
  });

  it('asks for its share again only after it has been in time for long', async () => {
    const { during } = watching();
    expect(await during(BEHIND, 2 * SHED_AFTER_MS)).toBe(1 / 4);
    expect(await during(IN_TIME, RESTORE_AFTER_MS - HEARTBEAT_MS)).toBe(1 / 4);
    expect(await during(IN_TIME, HEARTBEAT_MS)).toBe(1 / 2);
    expect(await during(IN_TIME, RESTORE_AFTER_MS)).toBe(1);
    expect(await during(IN_TIME, RESTORE_AFTER_MS)).toBe(1);
  });
});

describe('a scheduler pod whose ledger answers slowly', () => {
  const SLOW_MS = 15_000;

  it('is behind by its oldest cron, gives crons to another pod, and gets them back', async () => {
    const stage = new BalanceStage({ ttlMs: 10_000 });
    await stage.declareMany(60, '*/5 * * * * *');
    const [a, b] = [await stage.started('a'), await stage.started('b')];
    await stage.clock.advance(3 * HEARTBEAT_MS);
    const before = a.engine.size;
    expect(before).toBeGreaterThan(20);
    slowFrom(stage, a.own, SLOW_MS);
    await stage.clock.advance(SLOW_MS + 8_000);
    expect(a.events.of('pod.behind')).toHaveLength(1);
    expect(b.events.of('pod.behind')).toEqual([]);
    expect(a.pod.assigned).toBeLessThan(0.9 * before);
    expect(a.pod.assigned + b.pod.assigned).toBe(60);
    expect(a.engine.size + b.engine.size).toBe(60);
    expect(a.events.of('pod.caught-up')[0]?.lateMs).toBeGreaterThan(SHED_AFTER_MS);
    await stage.clock.advance(RESTORE_AFTER_MS + 5_000);
    expect([a.pod.assigned, a.engine.size]).toEqual([before, before]);
    await stage.stopAll();
    expect(stage.clock.pending).toBe(0);
  });

  /** One call takes this long, and the crons in it are due meanwhile. */
  function slowFrom(stage: SchedulerStage, own: StagePod['own'], ms: number) {
    own.next('claimAll', { heldBack: new Promise<void>((resolve) => void stage.clock.after(ms, resolve)) });
  }
});
