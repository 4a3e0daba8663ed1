import { Injectable } from '@nestjs/common';
import type { INestApplicationContext } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { JobsModule, LEDGER, SingletonCron, type JobsModuleOptions, type RunContext } from '@fencepost/jobs';
import type { Ledger } from '@fencepost/ledger';
import { expect, onTestFinished } from 'vitest';
import { accountFor } from '../e2e/instants.js';

let ran: string[] = [];

@Injectable()
class Ticker {
  @SingletonCron('* * * * * *', { name: 'tick', overlap: 'allow' })
  tick(run: RunContext): void {
    ran.push(run.id);
  }
}

/** Pods of this process with a cron that fires each second; closed with the test. */
export async function startPods(count: number, options: JobsModuleOptions): Promise<INestApplicationContext[]> {
  ran = [];
  const pods: INestApplicationContext[] = [];
  onTestFinished(async () => void (await Promise.all(pods.map((pod) => pod.close()))));
  for (let n = 0; n < count; n += 1) {
    const imports = [JobsModule.forRoot({ ...options, roles: ['scheduler', 'worker'], leaseTtl: '3s', log: false })];
    const pod = await Test.createTestingModule({ imports, providers: [Ticker] }).compile();
    pods.push(pod);
    await pod.init();
  }
  return pods;
}

export async function moreRuns(more: number, timeout = 20_000): Promise<void> {
  const wanted = ran.length + more;
  await expect.poll(() => ran.length, { timeout }).toBeGreaterThanOrEqual(wanted);
}

/**
 * Of the seconds from the first run to the newest each has one run, which succeeded, or is one of those that a later run stands for; and no
 * handler was called twice for one.
 * @returns for how many another run stands: none, unless the store was away for longer than a second
 */
export async function expectEachInstantOnce([pod]: readonly INestApplicationContext[]): Promise<number> {
  const ledger = pod!.get<Ledger>(LEDGER);
  const [newest] = await ledger.runs('tick', 1);
  const runsUntilNow = async () =>
    (await ledger.runs('tick', 200)).filter(({ scheduledAt }) => scheduledAt <= newest!.scheduledAt);
  const states = async () => new Set((await runsUntilNow()).map(({ state }) => state));
  await expect.poll(states, { timeout: 20_000 }).toEqual(new Set(['succeeded']));
  const runs = await runsUntilNow();
  const skips = (await ledger.skips('tick', 200)).filter(({ through }) => through <= newest!.scheduledAt);
  expect(accountFor({ runs, skips }, 1_000)).toEqual({ lost: [], twice: [] });
  expect(skips.filter(({ reason }) => reason !== 'merged')).toEqual([]);
  expect(new Set(ran).size).toBe(ran.length);
  return skips.length;
}
