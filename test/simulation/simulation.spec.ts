import { expect, it } from 'vitest';
import { play, replayLine } from './replay.js';
import { Tally } from './report.js';
import { summaryOf } from './summary.js';

const SEEDS = 200;
const DAYS = 1;

it('two hundred deployments keep every promise through a day of mishaps, and each defence is needed once', async () => {
  const tally = new Tally();
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const summary = summaryOf(await play({ seed, days: DAYS }));
    tally.add(summary);
    const { violation } = summary;
    if (violation) tally.broke({ seed, ...violation, replay: replayLine({ seed, days: DAYS }) });
  }
  const { ok, violations, never, controlDuplicates } = tally.report(SEEDS * DAYS, { wallMs: 0, cpuMs: 0 });
  expect(violations).toEqual([]);
  expect(never).toEqual([]);
  expect(controlDuplicates).toBeGreaterThan(0);
  expect(ok).toBe(true);
}, 600_000);
