import { describe, expect, it } from 'vitest';
import type { Attempt, Effect, Run } from '../../data/types.js';
import { waterfallOf } from './waterfall.js';

const T0 = Date.UTC(2026, 10, 21, 3);

function at(ms: number): string {
  return new Date(T0 + ms).toISOString();
}

function run(words: Partial<Run> = {}): Run {
  const times = { dueAt: at(0), claimedAt: at(12), enqueuedAt: at(20), startedAt: at(50), finishedAt: at(903) };
  return { state: 'succeeded', reason: 'schedule', ...times, ...words } as Run;
}

function attempt(number: number, words: Partial<Attempt>): Attempt {
  const unknown = { beganAt: null, endedAt: null, tookMs: null, worker: null, fence: null, why: null, stack: null };
  return { number, first: number, ...unknown, end: 'succeeded', refusals: [], ...words };
}

function effect(name: string, from: number, to: number | null): Effect {
  const state = to === null ? 'begun' : 'done';
  return { name, state, unknown: false, since: at(from), finishedAt: to === null ? null : at(to) } as Effect;
}

const FIRST = attempt(1, { beganAt: at(50), endedAt: at(150), end: 'failed' });
const SECOND = attempt(2, { beganAt: at(400), endedAt: at(900) });

const shown = (waterfall: ReturnType<typeof waterfallOf>) =>
  waterfall.rows.map(({ name, from, tookMs, open }) => [name, from, tookMs, ...(open ? ['open'] : [])]);

describe('the course of a run', () => {
  it('names each wait, attempt and effect in order, in milliseconds from its due time', () => {
    const effects = [effect('render', 60, 90), effect('mail', 450, 800)];
    const waterfall = waterfallOf({ run: run(), effects, attempts: [SECOND, FIRST] }, T0 + 99_999);
    expect([waterfall.begin, waterfall.ms]).toEqual([at(0), 903]);
    expect(shown(waterfall)).toEqual([
      ['Waits for a scheduler', 0, 12],
      ['Being enqueued', 12, 8],
      ['Waits for a worker', 20, 30],
      ['Attempt 1', 50, 100],
      ['Effect render', 60, 30],
      ['Waits for attempt 2', 150, 250],
      ['Attempt 2', 400, 500],
      ['Effect mail', 450, 350],
      ['Being recorded', 900, 3],
    ]);
  });

  it('of a run that somebody asked for begins when it was accepted, however long ago its instant was', () => {
    const backfilled = run({ reason: 'backfill', dueAt: at(-9_000_000) });
    const waterfall = waterfallOf({ run: backfilled, effects: [], attempts: [] }, T0);
    expect(waterfall.begin).toBe(at(12));
    expect(shown(waterfall)[0]).toEqual(['Being enqueued', 0, 8]);
  });

  it('goes on until now where a worker, a retry or a person is waited for', () => {
    const waiting = run({ state: 'enqueued', startedAt: null, finishedAt: null });
    expect(shown(waterfallOf({ run: waiting, effects: [], attempts: [] }, T0 + 1_020)).at(-1)).toEqual([
      ...['Waits for a worker', 20, 1_000, 'open'],
    ]);
    const retried = run({ state: 'enqueued', finishedAt: null });
    expect(shown(waterfallOf({ run: retried, effects: [], attempts: [FIRST] }, T0 + 650)).at(-1)).toEqual([
      ...['Waits for attempt 2', 150, 500, 'open'],
    ]);
    const asking = { run: run({ state: 'uncertain', finishedAt: null }), effects: [], attempts: [FIRST] };
    expect(shown(waterfallOf(asking, T0 + 650)).at(-1)).toEqual(['Waits for an operator', 150, 500, 'open']);
  });

  it('has no bar for what nobody recorded, and makes no end up', () => {
    const killed = attempt(1, { beganAt: at(50), end: 'unrecorded' });
    const lost = attempt(9, { first: 2, end: 'lost' });
    const rows = waterfallOf({ run: run({ state: 'failed' }), effects: [], attempts: [lost, killed] }, T0).rows;
    expect(rows.find(({ name }) => name === 'Attempt 1')).toMatchObject({
      from: 50,
      to: null,
      tookMs: null,
      open: false,
    });
    expect(rows.find(({ name }) => name === 'Attempts 2 – 9')).toMatchObject({ from: null, to: null, tookMs: null });
  });

  it('shows an attempt and an effect that go on as open', () => {
    const going = { run: run({ state: 'running', finishedAt: null }), effects: [effect('mail', 80, null)] };
    const waterfall = waterfallOf({ ...going, attempts: [attempt(1, { beganAt: at(50), end: 'open' })] }, T0 + 250);
    expect(shown(waterfall).slice(-2)).toEqual([
      ['Attempt 1', 50, 200, 'open'],
      ['Effect mail', 80, 170, 'open'],
    ]);
  });
});
