import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { layout } from './layout.js';
import type { PodRow, Scene } from './scene.js';
import { tally } from './tally.js';
import { aPod, aRun, at, evidence } from './testing/stage.js';
import type { Mark } from './timeline.js';

const LEASE = { share: 0.6, fence: 1_893_456_000_123_456 };
const CRONS = ['latency-report', 'pulse', 'snapshot'];

function pod(name: string, given: Partial<PodRow> = {}): PodRow {
  return { pod: aPod(name), leases: [], running: [], ended: 0, ...given };
}

function scene(given: Partial<Scene> = {}): Scene {
  const marks: Mark[] = ['succeeded', 'running', 'retried', 'skipped', 'failed', 'waiting'];
  return {
    redis: 'redis://127.0.0.1:6379 (redis-server 7.0.15 on PATH)',
    access: 'export REDIS_URL=redis://127.0.0.1:6379 FENCEPOST_PREFIX=demo-1',
    logs: '/tmp/fencepost-demo-abcdef',
    status: '00:01 · Ctrl-C ends it',
    pods: [
      pod('scheduler-1', { leases: CRONS.map((cron) => ({ cron, ...LEASE })) }),
      pod('scheduler-2', { pod: aPod('scheduler-2', { state: 'killed', pid: null, port: 3001 }) }),
      pod('scheduler-3', { pod: aPod('scheduler-3', { state: 'frozen', port: 3002 }) }),
      pod('worker-1', { running: ['latency-report@12:00:00'], ended: 17 }),
      pod('worker-2', { pod: aPod('worker-2', { state: 'restarting' }) }),
    ],
    crons: CRONS.map((name) => ({ name, expression: '*/10 * * * * *', marks, nextInMs: 1_200 })),
    runs: Array.from({ length: 30 }, (_, n) => ({ run: aRun(100 - n), effects: ['write', 'publish'] })),
    news: [
      { id: '1', at: at(1), kind: 'lease', text: 'scheduler-1 holds pulse under fence …123456' },
      {
        id: '2',
        at: at(2),
        kind: 'chaos',
        text: 'killed scheduler-2 (held latency-report, pulse, snapshot) → scheduler-1 took latency-report, pulse over after 1.9 s',
      },
    ],
    tally: tally(evidence([aRun(1), aRun(2), aRun(3)])),
    ...given,
  };
}

const EMPTY = { pods: [], crons: [], runs: [], news: [] };

function draw(columns: number, rows: number, given: Partial<Scene> = {}): string[] {
  return layout(scene(given), { columns, rows, colour: false });
}

describe('the view', () => {
  it.each([
    [79, 23],
    [119, 39],
    [200, 60],
    [60, 23],
    [20, 10],
    [79, 3],
  ])('fills a screen of %i columns and %i rows, and is never larger', (columns, rows) => {
    for (const given of [{}, EMPTY, { runs: [] }, { news: [] }]) {
      const lines = draw(columns, rows, given);
      expect(lines.length).toBe(rows);
      expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(columns);
    }
  });

  it('is as wide with colours as without', () => {
    const plain = draw(79, 23);
    const coloured = layout(scene(), { columns: 79, rows: 23, colour: true });
    expect(coloured.join('')).toContain('\u001b[');
    expect(coloured.map((line) => stripVTControlCharacters(line))).toEqual(plain);
  });

  it('shows at 80 columns all that a person looks for first', () => {
    const text = draw(79, 23).join('\n');
    for (const wanted of [
      'http://127.0.0.1:3000/crons/, :3001, :3002 · also /queues, /metrics',
      'logs /tmp/fencepost-demo-abcdef',
      'scheduler-2  killed',
      'scheduler-3  frozen',
      '17 runs   latency-report@12:00:00',
      '●◐↻·✕○  next 2 s',
      'runs 3 · duplicates 0 · missed 0',
      '→ scheduler-1 took latency-report, pulse over after 1.9 s',
      '00:01 · Ctrl-C ends it',
    ]) {
      expect(text).toContain(wanted);
    }
  });

  it('wraps a long sentence rather than cutting its end off', () => {
    const text = `killed a → ${'scheduler-1 took pulse over after 1.9 s; '.repeat(4)}end`;
    const lines = draw(79, 23, { news: [{ id: '1', at: at(1), kind: 'chaos', text }] });
    expect(lines.find((line) => line.includes('killed a'))).toBe('00:00:01 killed a');
    expect(lines.join(' ').replaceAll(/ +/g, ' ')).toContain(text);
  });

  it('keeps the newest runs and the newest news where there is no room for all', () => {
    const text = draw(79, 23).join('\n');
    expect(text).toContain('pulse@00:01:40');
    expect(text).not.toContain('pulse@00:01:11');
    const lines = draw(79, 23, {
      news: Array.from({ length: 20 }, (_, n) => ({ id: `${n}`, at: at(n), kind: 'note', text: `news ${n};` })),
    }).join('\n');
    expect(lines).toContain('news 19;');
    expect(lines).not.toContain('news 3;');
  });
});

describe('a scheduler that holds every cron', () => {
  const line = (columns: number) => draw(columns, 23).find((each) => each.startsWith('scheduler-1')) ?? '';

  it('shows bars and fences where there is room', () => {
    expect(line(199)).toContain('pulse ▰▰▰▰▰▰▱▱▱▱ …123456');
    expect(line(130)).toContain('pulse ▰▰▰▱▱ …123456');
  });

  it('shows less of each lease rather than fewer leases', () => {
    expect(line(79)).toMatch(/latency-report.*pulse.*snapshot/);
  });
});

describe('the bar of a lease', () => {
  it.each([
    { share: 1, bar: '▰▰▰▰▰▰▰▰▰▰' },
    { share: 0.01, bar: '▰▱▱▱▱▱▱▱▱▱' },
    { share: 0, bar: '▱▱▱▱▱▱▱▱▱▱' },
  ])('is $bar when $share of it is left', ({ share, bar }) => {
    const pods = [pod('scheduler-1', { leases: [{ cron: 'pulse', share, fence: 1 }] })];
    expect(draw(119, 23, { pods }).join('\n')).toContain(`pulse ${bar} …1`);
  });
});

describe('the table of runs', () => {
  it('counts the effects of a run where their names do not fit', () => {
    const effects = Array.from({ length: 12 }, (_, n) => `effect-number-${n}`);
    const text = draw(79, 23, { runs: [{ run: aRun(1), effects }] }).join('\n');
    expect(text).toMatch(/pulse@00:00:01 .*succeeded +12 effects/);
  });

  it('tells a run that waits for its next attempt from one that was never begun', () => {
    const runs = [
      { run: aRun(2, { state: 'enqueued' }), effects: [] },
      { run: aRun(1, { state: 'enqueued', attempt: 0, startedAt: null, worker: null, fence: null }), effects: [] },
    ];
    const text = draw(79, 23, { runs }).join('\n');
    expect(text).toMatch(/pulse@00:00:02 +10 ms +worker-1 1 +…\d{6} +will retry/);
    expect(text).toMatch(/pulse@00:00:01 +0 +enqueued/);
  });
});
