import { describe, expect, it } from 'vitest';
import { KEPT_GENERATIONS } from '@fencepost/ledger/catalog';
import { oneCron, ran, CRON, type PlanningStage } from '../../../../test/support/planning-stage.js';

describe('what a pod knows of the catalog', () => {
  it('is enough for the instants of the next two seconds, and for none after that', async () => {
    const { stage } = await oneCron();
    stage.freshness.heardAt = stage.start + 500;
    await stage.serve(5_000);
    expect(await ran(stage)).toEqual([1, 2]);
    stage.freshness.heardAt = stage.start + 6_000;
    await stage.serve(1_500);
    expect(await ran(stage)).toEqual([1, 2, 6, 7]);
  });

  it('includes where the generations it knows begin: what is left of the former one is claimed', async () => {
    const { stage, at } = await oneCron();
    stage.redefine({ expression: '*/5 * * * * *' });
    stage.freshness.heardAt = stage.start - 60_000;
    await stage.serve(10_000);
    expect((await stage.memoryLedger.readCron(CRON)).cursor).toBe(at(3));
  });
});

describe('a changed cron', () => {
  const generations = async (stage: PlanningStage) =>
    (await stage.memoryLedger.runs(CRON, 100))
      .map(({ scheduledAt, generation }) => [(scheduledAt - stage.start) / 1_000, generation])
      .toReversed();

  it('fires by the former definition up to the moment at which the new one begins, that moment included', async () => {
    const { stage } = await oneCron();
    await stage.serve(1_000);
    stage.redefine({ expression: '*/2 * * * * *' });
    await stage.serve(6_500);
    expect(await generations(stage)).toEqual([
      ...[
        [1, 1],
        [2, 1],
        [3, 1],
        [4, 1],
      ],
      ...[
        [6, 2],
        [8, 2],
      ],
    ]);
    expect(await stage.memoryLedger.skips(CRON, 10)).toEqual([]);
  });

  it('is planned by the former policies as far as its former instants go', async () => {
    const { stage, at } = await oneCron({ catchUpWindowMs: 3_600_000 });
    await stage.serve(0);
    stage.redefine({ misfire: 'skip', graceMs: 900, expression: '*/2 * * * * *' });
    await stage.outage(9_000);
    await stage.serve(0);
    expect(await generations(stage)).toEqual([
      [1, 1],
      [3, 1],
      [10, 2],
    ]);
    expect((await stage.memoryLedger.skips(CRON, 10)).toReversed()).toEqual([
      { after: at(1), through: at(2), reason: 'merged' },
      { after: at(3), through: at(8), reason: 'misfire' },
    ]);
  });

  it('has missed nothing before the change, however far back its new expression reaches', async () => {
    const { stage } = await oneCron({ expression: '* * * * *' });
    await stage.serve(89_000);
    stage.redefine({ expression: '* * * * * *', ...{ misfire: 'fire-all', catchUpWindowMs: 3_600_000 } });
    await stage.serve(4_000);
    expect(await generations(stage)).toEqual([
      [60, 1],
      [93, 2],
      [94, 2],
    ]);
    expect(await stage.memoryLedger.skips(CRON, 10)).toEqual([]);
  });

  it('waits with its new instants for a former one that a spread has put off', async () => {
    const { stage } = await oneCron({ expression: '* * * * *', spreadMs: 50_000 });
    await stage.serve(59_100);
    stage.redefine({ expression: '* * * * * *', spreadMs: 0 });
    await stage.serve(5_000);
    // Another pod takes over, and looks at once.
    await stage.take();
    await stage.serve(60_000);
    const spread = stage.events.of('occurrence.claiming')[0];
    expect(spread?.scheduledAt).toBe(stage.start + 60_000);
    const runs = await generations(stage);
    expect(runs[0]).toEqual([60, 1]);
    expect(runs.slice(1).every(([, generation]) => generation === 2)).toBe(true);
  });

  it('records instants of forgotten generations as superseded first', async () => {
    const { stage, held, at, dispatch } = await oneCron();
    await dispatch();
    await stage.clock.advance(9_000);
    const since = at(8);
    const past = Array.from({ length: KEPT_GENERATIONS }, (_, n) => ({ ...held.entry, generation: 9 + n, since }));
    held.entry = { ...held.entry, generation: 9 + KEPT_GENERATIONS, since, past };
    expect(await dispatch()).toEqual([{ lookAt: at(9) }]);
    expect(await dispatch()).toEqual([{ lookAt: at(11) }]);
    expect((await stage.memoryLedger.skips(CRON, 10)).toReversed()).toEqual([
      { after: at(1), through: at(8), reason: 'superseded' },
      { after: at(8), through: at(9), reason: 'merged' },
    ]);
    expect(await generations(stage)).toEqual([
      [1, 1],
      [10, 9 + KEPT_GENERATIONS],
    ]);
  });
});
