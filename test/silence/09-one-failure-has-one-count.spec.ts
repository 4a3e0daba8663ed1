import type { Answers } from '@fencepost/client';
import { LEDGER } from '@fencepost/jobs';
import type { Ledger } from '@fencepost/ledger';
import { CronCatalog, Doctor } from '@fencepost/operations';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { endRun } from '../support/ended-run.js';
import { startSchedulerApp, type RunningApp } from '../support/scheduler-app.js';

const BY = { by: 'test', reason: 'a test' };
const FAILURES = 54;
const OTHERS = 300;

let running: RunningApp;
let firstEnd = 0;
beforeAll(async () => {
  running = await startSchedulerApp({ settings: { keepRuns: 10_000 } });
  const crons = running.app.get(CronCatalog, { strict: false });
  const names = ['settle', ...Array.from({ length: OTHERS }, (_, n) => `other-${n}`)];
  await crons.setMany(
    names.map((name) => ({ name, expression: '0 3 1 1 *' })),
    BY,
  );
  for (let n = 0; n < FAILURES; n += 1) await endRun(running, 'settle', 'failed');
  const ledger = running.app.get<Ledger>(LEDGER, { strict: false });
  const runs = await ledger.runsIn('failed', ['settle'], 1_000);
  firstEnd = Math.min(...runs.map(({ finishedAt }) => finishedAt ?? Infinity));
}, 60_000);
afterAll(() => running.close());

async function asked<Answer>(path: string): Promise<Answer> {
  return (await (await running.ask(path)).json()) as Answer;
}

describe('54 failures in a row of one cron of 301', () => {
  it('are 54 in the overview and among the failures by error, the first of them included', async () => {
    const overview = await asked<Answers['Overview']>('/api/overview');
    expect([overview.failed, overview.failedComplete]).toEqual([FAILURES, true]);
    const { items, complete } = await asked<Answers['Failures']>('/api/runs/failures');
    expect([items.length, complete]).toEqual([1, true]);
    expect(items[0]).toMatchObject({ count: FAILURES, complete: true, firstAt: new Date(firstEnd).toISOString() });
  });

  it('are "30 or more in a row" on the list, on its page and by the doctor, which read 30', async () => {
    const { health } = await asked<Answers['CronDetail']>('/api/crons/settle');
    expect(health.text).toBe('failing (30 or more in a row)');
    const findings = await running.app.get(Doctor, { strict: false }).examine();
    expect(findings.find(({ code }) => code === 'FAILING')?.text).toContain('settle (30 or more in a row)');
  });
});
