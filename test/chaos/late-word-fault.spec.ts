import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseFence } from '@fencepost/lease';
import type { CronRecord } from '@fencepost/ledger';
import { seededRandom } from '../support/seeded-random.js';
import { lateWordFaults, type LateWordFaultsOptions } from './faults/late-word-fault.js';
import type { Herd, Victim } from './faults/victim.js';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'late-word-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** A scheduler and a worker that come to every point at once. */
function herdOf(said: string[]): Herd {
  const victim = (name: string, role: string): Victim => {
    const hit = join(folder, `${name}.hit`);
    return {
      ...{ name, role, hit, gone: Promise.resolve() },
      send: (signal) => void said.push(`${name} ${signal}`),
      order: (order) => {
        if (order.do !== 'arm' || !order.point) return Promise.resolve();
        said.push(`${name} armed at ${order.point.event} of ${order.point.effects?.join()}`);
        writeFileSync(hit, JSON.stringify({ cron: 'chaos-asked', runId: 'chaos-asked@1000', attempt: 1, fence: 7 }));
        return Promise.resolve();
      },
    };
  };
  const all = [victim('s1', 'scheduler'), victim('w1', 'worker')];
  return { up: () => all, seize: () => ({ release: () => {} }) };
}

type Told = Awaited<ReturnType<LateWordFaultsOptions['ledger']['readRun']>>;

/** A ledger in which somebody else is in charge when it is asked so often. */
function ledgerOf(said: string[], looks: number): LateWordFaultsOptions['ledger'] {
  let left = looks;
  const look = (what: string) => {
    said.push(what);
    left -= 1;
    return left <= 0;
  };
  return {
    readRun: (id) => {
      const state = look(`looked at ${id}`) ? 'orphaned' : 'running';
      return Promise.resolve({ id, state, attempt: 1 } as unknown as Told);
    },
    readCron: (name) => {
      const fence = parseFence(look(`looked at ${name}`) ? '8' : '7');
      return Promise.resolve({ name, fence } as unknown as CronRecord);
    },
  };
}

async function strike(kind: string, looks: number) {
  const said: string[] = [];
  const fault = lateWordFaults({ herd: herdOf(said), ledger: ledgerOf(said, looks) }).find((one) => one.kind === kind)!;
  return { struck: await fault.strike(seededRandom(1), new AbortController().signal), said };
}

describe('a process that stops before its word is heard', () => {
  it('goes on as a worker when somebody else has its run, and not before', async () => {
    const { struck, said } = await strike('sigstop-until-replaced', 3);
    const looks = Array.from({ length: 3 }, () => 'looked at chaos-asked@1000');
    expect(said).toEqual(['w1 armed at effect.acted of write,charge,pay', ...looks, 'w1 SIGCONT']);
    expect(struck).toBe(true);
  });

  it('goes on as a scheduler when somebody else has claimed, and not before', async () => {
    const { struck, said } = await strike('sigstop-until-overtaken', 2);
    const looks = Array.from({ length: 2 }, () => 'looked at chaos-asked');
    expect(said).toEqual(['s1 armed at occurrence.claiming of undefined', ...looks, 's1 SIGCONT']);
    expect(struck).toBe(true);
  });

  it('goes on and does not count when the run of chaos ends before that, also when no store answers', async () => {
    const said: string[] = [];
    const over = new AbortController();
    const fail = () => {
      over.abort();
      return Promise.reject(new Error('no such server'));
    };
    const [fault] = lateWordFaults({ herd: herdOf(said), ledger: { readRun: fail, readCron: fail } });
    expect(await fault!.strike(seededRandom(1), over.signal)).toBe(false);
    expect(said.at(-1)).toBe('w1 SIGCONT');
  });
});
