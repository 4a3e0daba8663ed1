import type { INestApplicationContext } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import type { Answers } from '@fencepost/client';
import { LEDGER } from '@fencepost/jobs';
import type { Ledger } from '@fencepost/ledger';
import { CronCatalog } from '@fencepost/operations';
import { CronDirectory } from '@fencepost/operations/internal';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fencepost } from '../support/fencepost.js';
import { endRun } from '../support/ended-run.js';
import { SECRETS, startSchedulerApp, type RunningApp } from '../support/scheduler-app.js';
import { until } from '../support/until.js';

const BY = { by: 'test', reason: 'a test' };
/** More than are read at once for a page. */
const OTHERS = Array.from({ length: 60 }, (_, n) => `other-${String(n).padStart(2, '0')}`);

let running: RunningApp;
beforeEach(async () => {
  running = await startSchedulerApp();
  const crons = running.app.get(CronCatalog, { strict: false });
  for (const name of ['nightly', ...OTHERS]) await crons.set(name, { expression: '0 3 1 1 *' }, BY);
  await endRun(running, 'nightly', 'succeeded');
  await until('every history is read', async () => (await asked<Answers['Triage']>('/api/triage')).unread === 0);
});
afterEach(() => running.close());

async function asked<Answer>(path: string): Promise<Answer> {
  return (await (await running.ask(path)).json()) as Answer;
}

/** The last visitor has left, as 60 s without a question say. */
function leave(): void {
  const providers = [...running.app.get(ModulesContainer).values()].flatMap((module) => [...module.providers.values()]);
  // The console is an application within the application.
  const server: unknown = providers.find(({ name }) => name === 'ConsoleServer')?.instance;
  const { app } = server as { readonly app: INestApplicationContext };
  app.get(CronDirectory, { strict: false }).stop();
}

describe('the first answers to a visitor who comes later', () => {
  beforeEach(async () => {
    leave();
    for (let n = 0; n < 3; n += 1) await endRun(running, 'nightly', 'failed');
  });

  it('have nothing that the last visitor saw: each cron is as the ledger has it, or unknown', async () => {
    const [triage, page] = await Promise.all([
      asked<Answers['Triage']>('/api/triage'),
      asked<Answers['CronPage']>('/api/crons?limit=100'),
    ]);
    const health = page.items.map(({ name, health: { state, failures } }) => [name, state, failures] as const);
    const nightly = health.find(([name]) => name === 'nightly');
    expect([
      ['nightly', 'failing', 3],
      ['nightly', 'unknown', null],
    ]).toContainEqual(nightly);
    const said = triage.items.flatMap(({ kind, crons }) => crons.map((cron) => `${cron} ${kind}`));
    expect(['nightly failing', undefined]).toContain(said[0]);
    expect(said.length + triage.unread).toBeGreaterThan(0);
    expect(triage.wellSince).toBeNull();
  });

  it('agree with the ledger once all is read, on the page, by fencepost and in each count', async () => {
    await until('every history is read', async () => (await asked<Answers['Triage']>('/api/triage')).unread === 0);
    const ledger = running.app.get<Ledger>(LEDGER, { strict: false });
    const failed = (await ledger.runsIn('failed', ['nightly'], 100)).length;
    const url = ['--url', `${running.url}/crons`];
    const env = { FENCEPOST_TOKEN: SECRETS.viewer };
    const [triage, list, overview, found, told] = await Promise.all([
      asked<Answers['Triage']>('/api/triage'),
      asked<Answers['CronPage']>('/api/crons?state=failing'),
      asked<Answers['Overview']>('/api/overview'),
      asked<Answers['FoundRuns']>('/api/runs?state=failed'),
      fencepost(['list', '--failing', '--json', ...url], { env }),
    ]);
    expect(triage.items.filter(({ kind }) => kind !== 'finding')).toMatchObject([
      { kind: 'failing', crons: ['nightly'] },
    ]);
    expect(list.items.map(({ name, health }) => [name, health.failures])).toEqual([['nightly', failed]]);
    expect([overview.failed, found.items.length]).toEqual([failed, failed]);
    expect(JSON.parse(told.out)).toMatchObject([{ name: 'nightly', health: { state: 'failing', failures: failed } }]);
  });

  it('say when the crons and the findings were looked at, by the clock of the store', async () => {
    const before = Date.now();
    const { now, examinedAt } = await asked<Answers['Triage']>('/api/triage');
    for (const at of [now, examinedAt ?? '']) expect(Date.parse(at)).toBeGreaterThanOrEqual(before - 10_000);
  });
});
