import { EventEmitter } from 'node:events';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { widthOf } from '../colour.js';
import { LiveScreen, type Terminal } from '../live-screen.js';
import { frameOf, linesOf, totalsOf, type Seen } from './top-frame.js';

type Cron = Seen['crons'][number];

function cron(name: string, last: string | null = 'succeeded', more: Partial<Cron> = {}): Cron {
  const run = last === null ? null : { state: last, skipped: null, scheduledAt: '2026-01-01T00:00:00.000Z' };
  return {
    name,
    expression: '0 3 * * *',
    timeZone: 'UTC',
    state: 'active',
    paused: null,
    uncertain: 0,
    next: null,
    health: { state: 'unknown', text: 'history not read yet' },
    ...more,
    last: run,
  } as Cron;
}

const MANY = Array.from({ length: 5_000 }, (_, n) => cron(`cron-${n}`));

function seen(crons: readonly Cron[], more: Partial<Seen> = {}): Seen {
  const pods = [{ pod: 'scheduler-1', held: 3, running: null }] as unknown as Seen['pods'];
  return {
    at: 0,
    prefix: 'demo-1',
    tenant: 'demo',
    pods,
    unreported: [],
    crons,
    totals: { total: crons.length },
    ...more,
  };
}

describe('the frame of fencepost top', () => {
  it.each([
    [24, 80],
    [10, 40],
    [7, 20],
  ])('keeps its header with 5,000 crons in %i rows of %i columns', (rows, columns) => {
    const frame = frameOf(seen([cron('broken', 'failed'), ...MANY]), { rows, columns, isPlain: false });
    expect(frame).toHaveLength(rows);
    for (const line of frame) expect(widthOf(line)).toBeLessThanOrEqual(columns);
    const plain = frame.map(stripVTControlCharacters);
    expect(plain[0]).toMatch(/^fencepost  prefix/);
    expect(plain[1]).toMatch(/^5001 crons/);
    expect(plain[5]).toMatch(/^broken/);
    expect(plain.at(-1)).toBe(`… ${5_001 - (rows - 6)} more crons`.slice(0, columns));
  });

  it('shows all crons where they fit, and how many are in which state', () => {
    const counts = { total: 4, active: 3, paused: 0, disabled: 1, removed: 0 };
    const items = [
      { kind: 'uncertain', count: 1 },
      { kind: 'finding', count: 1 },
    ] as unknown as Parameters<typeof totalsOf>[0]['triage']['items'];
    const totals = totalsOf({ counts, triage: { items, unread: 2 } });
    const found = seen([cron('d'), cron('c'), cron('a'), cron('b')], { totals });
    const frame = frameOf(found, { rows: 24, columns: 120, isPlain: true });
    expect(frame.slice(5).map((line) => line.split(' ')[0])).toEqual(['d', 'c', 'a', 'b']);
    expect(frame[1]).toBe('4 crons · uncertain 1 · disabled 1 · unknown 2');
    expect(linesOf(found, Infinity).map(stripVTControlCharacters).slice(5)).toEqual(frame.slice(5));
  });

  it('says how many crons there are beyond those that were read', () => {
    const lines = linesOf(seen([cron('a'), cron('b')], { totals: { total: 5_000 } }), Infinity);
    expect(lines.slice(-2)).toEqual([expect.stringMatching(/^b /), '… 4998 more crons']);
  });

  it('says since when nothing newer is known', () => {
    const [head] = frameOf(seen([], { trouble: 'No answer.' }), { rows: 24, columns: 120, isPlain: true });
    expect(head).toContain('NOT UP TO DATE, as of 1970-01-01T00:00:00Z: No answer.');
  });
});

describe('the screen of fencepost top', () => {
  function stage() {
    const [out, keys] = [new EventEmitter(), new EventEmitter()];
    let [written, isRaw] = ['', false];
    const terminal = {
      out: Object.assign(out, { rows: 5, columns: 20, write: (text: string) => (written += text) }),
      keys: Object.assign(keys, { setRawMode: (raw: boolean) => (isRaw = raw), pause: () => {} }),
    } as unknown as Terminal;
    const told: string[] = [];
    const screen = new LiveScreen(terminal, { quit: () => told.push('quit'), resized: () => told.push('resized') });
    return { screen, out, keys, told, written: () => written, isRaw: () => isRaw };
  }

  it.each(['q', '\u0003'])('ends with %j, and leaves the terminal as it was', (key) => {
    const { screen, keys, out, told, written, isRaw } = stage();
    expect(isRaw()).toBe(true);
    keys.emit('data', Buffer.from('x'));
    keys.emit('data', Buffer.from(key));
    expect(told).toEqual(['quit']);
    screen.close();
    expect(isRaw()).toBe(false);
    expect(written()).toBe('\u001B[?1049h\u001B[?25l\u001B[?25h\u001B[?1049l');
    expect([keys.listenerCount('data'), out.listenerCount('resize')]).toEqual([0, 0]);
  });

  it('draws no more lines than there are rows, and hears of another size', () => {
    const { screen, out, told, written } = stage();
    screen.draw(Array.from({ length: 9 }, (_, n) => `line ${n}`));
    expect(written()).toContain('line 4');
    expect(written()).not.toContain('line 5');
    out.emit('resize');
    expect(told).toEqual(['resized']);
    screen.close();
  });
});
