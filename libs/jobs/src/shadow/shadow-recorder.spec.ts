import { describe, expect, it } from 'vitest';
import { ManualClock } from '@fencepost/lease/testing';
import { MemoryMembership } from '../membership/memory-membership.js';
import type { ShadowInterval, ShadowRecord, WatchedCron } from './shadow-log.js';
import { ShadowRecorder } from './shadow-recorder.js';

const START = Date.UTC(2030, 0, 1);

function stage() {
  const clock = new ManualClock(START);
  const membership = new MemoryMembership({ clock, version: () => 1 });
  const records: ShadowRecord[] = [];
  const seen: (readonly [string, number, number])[] = [];
  const noted: ShadowInterval[] = [];
  const failures: unknown[] = [];
  let isAway = false;
  const log = {
    write: async (crons: readonly WatchedCron[], written: readonly ShadowRecord[]) => {
      if (isAway) throw new Error('away');
      records.push(...written);
      seen.push(...crons.map(({ name, since, until }) => [name, since, until] as const));
    },
    writeIntervals: async (intervals: readonly ShadowInterval[]) => {
      if (isAway) throw new Error('away');
      noted.push(...intervals);
    },
  };
  const pod = (name: string) =>
    new ShadowRecorder({ clock, log, membership, pod: name, onFailure: (error) => failures.push(error) });
  return { clock, records, seen, noted, failures, pod, away: (away: boolean) => (isAway = away) };
}

const CRONS = Array.from({ length: 20 }, (_, n) => ({
  name: `cron-${n}`,
  expression: '*/2 * * * * *',
  timeZone: 'UTC',
}));

describe('a recorder of shadow mode', () => {
  it('records each instant once over all pods, at the pod that Fencepost would have run it on', async () => {
    const { clock, records, pod } = stage();
    const pods = [pod('a'), pod('b'), pod('c')];
    for (const one of pods) {
      for (const cron of CRONS) one.watch(cron);
      one.start();
    }
    await clock.advance(10_000);
    for (const one of pods) await one.stop();
    const due = records.filter(({ kind }) => kind === 'due');
    const ids = due.map(({ cron, at }) => `${cron}@${at}`);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.length).toBeGreaterThanOrEqual(4 * CRONS.length);
    expect(new Set(due.map((record) => record.pod)).size).toBe(3);
    expect(clock.pending).toBe(0);
  });

  it('records ticks by the clock of the pod, and since when and until when a cron is watched', async () => {
    const { clock, records, seen, pod } = stage();
    const one = pod('a');
    one.watch(CRONS[0]!);
    one.watch(CRONS[1]!, 60_000);
    one.start();
    await clock.advance(300);
    one.note('tick', 'cron-0');
    one.note('busy', 'cron-0');
    await clock.advance(700);
    await one.stop();
    expect(records).toEqual([
      { kind: 'tick', cron: 'cron-0', pod: 'a', at: START + 300 },
      { kind: 'busy', cron: 'cron-0', pod: 'a', at: START + 300 },
    ]);
    expect(seen).toEqual([
      ['cron-0', START, START],
      ['cron-0', START, START + 1_000],
    ]);
  });

  it('keeps that there is an interval while a pod has it, also when the store was away', async () => {
    const { clock, noted, pod, away } = stage();
    const one = pod('a');
    one.noteInterval({ name: 'poll', everyMs: 90_000 });
    away(true);
    one.start();
    await clock.advance(3_000);
    away(false);
    await one.stop();
    expect(noted).toEqual([{ name: 'poll', everyMs: 90_000 }]);
  });

  it('goes on when its store was away', async () => {
    const { clock, records, failures, pod, away } = stage();
    const one = pod('a');
    one.watch(CRONS[0]!);
    one.start();
    away(true);
    await clock.advance(3_000);
    expect(failures.length).toBeGreaterThan(0);
    away(false);
    await clock.advance(2_000);
    await one.stop();
    expect(records).toMatchObject([{ kind: 'due', at: START + 4_000 }]);
  });
});
