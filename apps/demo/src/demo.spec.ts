import type { Run } from '@fencepost/ledger/run';
import { parseFence } from '@fencepost/lease';
import type { Holding } from '@fencepost/lease/store';
import { ManualClock } from '@fencepost/lease/testing';
import { describe, expect, it } from 'vitest';
import { stageFaults, type Strike } from './chaos.js';
import { Events } from './events.js';
import { NOTHING_SEEN, type CronLook, type Look } from './observer.js';
import { HELP, parseOptions } from './options.js';
import { LEASE_MS, type Pod } from './pods.js';
import { closing, summary, table } from './report.js';
import { tally, type Evidence } from './tally.js';

const START = Date.UTC(2030, 0, 1);
const COURSE = { seconds: 3, schedulers: 3, workers: 2, kills: 1, freezes: 2, seed: 7 };

function aRun(second: number, given: Partial<Run> = {}): Run {
  const at = START + second * 1_000;
  const times = { scheduledAt: at, dueAt: at, startedAt: at + 10 };
  const names = { id: `pulse@${at}`, cron: 'pulse', worker: 'worker-1/a', claimedBy: 'scheduler-1/a' };
  const fences = { claimFence: parseFence('10'), fence: parseFence('1893456000123456') };
  return {
    ...times,
    ...names,
    ...fences,
    state: 'succeeded',
    reason: 'schedule',
    attempt: 1,
    error: null,
    ...given,
  } as Run;
}

type Given = Partial<Omit<Evidence, 'report'>> & { readonly report?: object };

function evidence(runs: readonly Run[], given: Given = {}): Evidence {
  const counts = { instants: 3, ran: 3, cancelled: 0, waiting: 0, missed: 0, doubled: 0, unexplained: 0 };
  const report = { to: START + 3_000, skipped: { overlap: 0 }, ...counts, ...given.report } as Evidence['report'];
  const writes = new Map(runs.map(({ id }) => [`${id}/write`, 1]));
  return { runs, writes, refusals: 0, turnedDown: { stale: 0, repeated: 0 }, ...given, report };
}

const ALL = [aRun(1), aRun(2), aRun(3)];

describe('the tally', () => {
  it('adds up what the audit, the runs and the sink have', () => {
    const runs = [aRun(1), aRun(2, { attempt: 2, startedAt: START + 2_700 }), aRun(3, { state: 'failed' })];
    const counted = tally(evidence(runs, { refusals: 2, turnedDown: { stale: 3, repeated: 4 } }));
    expect(counted).toMatchObject({
      occurrences: 3,
      runs: 3,
      duplicates: 0,
      lost: 0,
      retried: 1,
      failed: 1,
      writes: 3,
    });
    expect(counted).toMatchObject({ staleRejected: 5, repeated: 4, lateMsP50: 10, lateMsP99: 700 });
    expect(tally(evidence([])).lateMsP50).toBeNull();
  });

  it.each([
    ['the sink accepted an idempotency key twice', `pulse@${START + 2_000}/write`, 2],
    ['another run of the instant wrote the same effect', `pulse@${START + 2_000}-r1/write`, 1],
  ])('counts a duplicate when %s', (_when, key, times) => {
    const { writes } = evidence(ALL);
    expect(tally(evidence(ALL, { writes: new Map([...writes, [key, times]]) })).duplicates).toBe(1);
    expect(tally(evidence(ALL, { report: { doubled: 1 } })).duplicates).toBe(1);
  });

  it('counts as lost what the audit misses, and an effect that only one succeeded run of a cron lacks', () => {
    const writes = new Map([...evidence(ALL).writes].slice(1));
    expect(tally(evidence(ALL, { writes, report: { missed: 1 } })).lost).toBe(2);
    expect(tally(evidence([aRun(1, { state: 'failed' }), ...ALL.slice(1)], { writes })).lost).toBe(0);
  });

  it('counts a takeover where the next occurrence has another holder and another fence', () => {
    const [claimedBy, claimFence] = ['scheduler-2/b', parseFence('11')];
    expect(tally(evidence([aRun(3), aRun(2, { claimedBy, claimFence }), aRun(1)])).takeovers).toBe(2);
    expect(tally(evidence([aRun(1), aRun(2, { claimedBy }), aRun(3, { claimedBy })])).takeovers).toBe(0);
    expect(tally(evidence([aRun(1), aRun(2, { claimFence }), aRun(3)])).takeovers).toBe(0);
  });
});

describe('the closing line', () => {
  const closed = (given: Given = {}, complete = true) => closing({ ...tally(evidence(ALL, given)), complete }, COURSE);

  it('has its fields in the promised order, further ones after them', () => {
    expect(Object.keys(closed()).slice(0, 12).join(' ')).toBe(
      'ok seconds schedulers workers occurrences runs duplicates missed staleRejected takeovers lateMsP50 lateMsP99',
    );
    expect(closed({ report: { skipped: { overlap: 1 } } })).toMatchObject({ ok: true, missed: 0, kills: 1, seed: 7 });
  });

  it.each([
    [{ report: { missed: 1 } }, { missed: 1 }],
    [{ report: { waiting: 1 } }, { missed: 1 }],
    [{ report: { doubled: 1 } }, { duplicates: 1 }],
    [{ report: { unexplained: 1 } }, { unexplained: 1 }],
    [{ report: { ran: 0 } }, { runs: 0 }],
    [{ writes: new Map() }, { writes: 0, missed: 0 }],
  ])('is not ok with %j', (given, expected) => {
    expect(closed(given)).toMatchObject({ ok: false, ...expected });
    expect(summary(closed(given))[0]).toMatch(/^Not in order/);
  });

  it('says that an unreadable number is unknown', () => {
    expect(closed({}, false)).toMatchObject({ ok: false, missed: null });
    expect(summary(closed({}, false))).toContain('duplicates 0, missed unknown');
    expect(summary(closed()).at(-1)).toContain('--chaos --seed 7');
  });
});

describe('events and the table', () => {
  const cron = (holder: string, runs: readonly Run[] = []): CronLook => {
    const holding: Holding = { holder, fence: parseFence('1893456000123456'), remainingMs: 2_000 };
    return { name: 'pulse', holding, refusals: 0, runs, skips: [] };
  };
  const look = (second: number, ...crons: CronLook[]): Look => ({ ...NOTHING_SEEN, at: START + second * 1_000, crons });

  it('tell each run and each holder once, and a takeover with its cause', () => {
    const events = new Events();
    const running = aRun(2, { state: 'running', worker: 'scheduler-1/a' });
    const first = events.follow(look(2, cron('scheduler-1/a', [aRun(1), running]))).map(([, text]) => text);
    expect(first).toEqual([
      'scheduler-1 holds pulse under fence …123456',
      'pulse@00:00:01 succeeded on worker-1, 10 ms late, attempt 1, fence …123456',
    ]);
    const hit = events.hit('scheduler-1', 'killed scheduler-1', START + 2_000);
    expect(hit).toEqual(['chaos', 'killed scheduler-1 (had pulse, pulse@00:00:02)']);
    const second = look(4, cron('scheduler-1/b', [aRun(1), running]));
    const taken = 'killed scheduler-1 → the new scheduler-1 took pulse over after 2.0 s';
    expect([events.follow(second), events.follow(second)]).toEqual([[['chaos', taken]], []]);
  });

  it('show what each pod has', () => {
    const pod: Pod = { name: 'scheduler-1', role: 'scheduler', port: 3000, pid: 7, state: 'up' };
    const lines = table([pod], look(1, cron('scheduler-1/a')), tally(evidence(ALL)));
    expect(lines[1]).toBe('scheduler-1  up        7        http://127.0.0.1:3000  holds pulse');
    expect(lines).toContain('duplicates 0, missed 0');
  });
});

describe('staged faults', () => {
  async function strikes(seed: number, seconds: number, isBusy = (_pod: Pod) => true) {
    const [clock, struck] = [new ManualClock(), [] as (Strike & { readonly atMs: number })[]];
    const pods = ['scheduler-1', 'scheduler-2', 'worker-1', 'worker-2'].map((name): Pod => {
      return { name, role: name.startsWith('s') ? 'scheduler' : 'worker', port: 1, pid: 1, state: 'up' };
    });
    const onStrike = (strike: Strike) => struck.push({ ...strike, atMs: clock.monotonic() });
    const deps = { clock, seed, pods: () => pods, isBusy, onStrike, onThaw: () => {} };
    const over = stageFaults({ ...deps, endsAt: seconds * 1_000 }, new AbortController().signal);
    await clock.advance(seconds * 1_000);
    await over;
    return struck;
  }

  it.each([0, 1, 2, 3, 4, 5])('begin within five seconds and leave the last five alone, with seed %i', async (seed) => {
    const [struck, again] = [await strikes(seed, 60), await strikes(seed, 60)];
    expect(struck.length).toBeGreaterThan(3);
    expect(struck[0]?.atMs).toBeLessThanOrEqual(5_000);
    for (const { atMs, holdMs } of struck) expect(atMs + holdMs).toBeLessThanOrEqual(55_000);
    for (const { holdMs, victim } of struck.filter(({ kind }) => kind === 'freeze'))
      expect(holdMs).toBeGreaterThan(LEASE_MS[victim.role]);
    expect(again).toEqual(struck);
    expect((await strikes(seed, 8)).length).toBeGreaterThan(0);
    expect(await strikes(seed, 5)).toEqual([]);
  });

  it('prefer a pod that has something to lose', async () => {
    const struck = await strikes(3, 60, ({ name }) => name.endsWith('2'));
    expect(new Set(struck.map(({ victim }) => victim.name))).toEqual(new Set(['scheduler-2', 'worker-2']));
  });
});

describe('the command line of the demo', () => {
  it('takes all options, and needs none', () => {
    const nothing = { seconds: null, chaos: false, seed: null, ledger: 'redis', json: false, help: false };
    expect(parseOptions([])).toEqual(nothing);
    const given = { seconds: 30, chaos: true, seed: 7, ledger: 'postgres', json: true, help: true };
    expect(parseOptions('--seconds 30 --chaos --seed=7 --ledger postgres --json -h'.split(' '))).toEqual(given);
    for (const option of Object.keys(nothing)) expect(HELP).toContain(`--${option}`);
  });

  it.each('--seconds=abc --seconds=0 --seconds=1e3 --seconds=86401 --seed=x --ledger=etcd --what x'.split(' '))(
    'refuses %j',
    (arg) => expect(() => parseOptions([arg])).toThrow(/'.*'/),
  );
});
