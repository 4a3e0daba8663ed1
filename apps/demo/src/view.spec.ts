import type { WriteStream } from 'node:tty';
import { describe, expect, it } from 'vitest';
import { layout } from './layout.js';
import type { Scene } from './scene.js';
import { tally } from './tally.js';
import { aPod, aRun, evidence } from './testing/stage.js';
import { Terminal } from './testing/terminal.js';
import { View } from './view.js';

const [COLUMNS, ROWS] = [80, 24];

function scene(runs: number, status: string): Scene {
  return {
    ...{ redis: 'here', access: 'export', logs: '/tmp/x', status, news: [], crons: [] },
    pods: [{ pod: aPod('scheduler-1'), leases: [], running: [], ended: 0 }],
    runs: Array.from({ length: runs }, (_, n) => ({ run: aRun(n), effects: [] })),
    tally: tally(evidence([])),
  };
}

function expected(shown: Scene): string[] {
  return layout(shown, { columns: COLUMNS - 1, rows: ROWS - 1, colour: false }).map((line) => line.trimEnd());
}

describe('the living view', () => {
  it('shows exactly the last frame, whatever the frames before it were', () => {
    const terminal = new Terminal(COLUMNS, ROWS);
    const view = new View(terminal as unknown as WriteStream);
    // The table shrinks to blank lines and grows again, and lines above and below it change or don't.
    for (const [runs, status] of [
      [3, 'a'],
      [1, 'a'],
      [1, 'b'],
      [0, 'b'],
      [9, 'c'],
      [2, 'c'],
    ] as const) {
      const shown = scene(runs, status);
      view.show(shown);
      expect(terminal.screen.slice(0, ROWS - 1)).toEqual(expected(shown));
    }
  });

  it('leaves room for the cursor, so that the screen never scrolls', () => {
    const terminal = new Terminal(COLUMNS, ROWS);
    new View(terminal as unknown as WriteStream).show(scene(40, 'full'));
    expect(terminal.screen).toHaveLength(ROWS);
    expect(terminal.screen.at(-1)).toBe('');
  });

  it('draws everything anew when the terminal has another size', () => {
    const terminal = new Terminal(COLUMNS, ROWS);
    const view = new View(terminal as unknown as WriteStream);
    view.show(scene(2, 'before'));
    terminal.emit('resize');
    expect(terminal.screen).toEqual(['']);
    view.show(scene(2, 'after'));
    expect(terminal.screen.slice(0, ROWS - 1)).toEqual(expected(scene(2, 'after')));
  });

  it('leaves the last frame standing when it is closed, and does not listen any more', () => {
    const terminal = new Terminal(COLUMNS, ROWS);
    const view = new View(terminal as unknown as WriteStream);
    view.show(scene(1, 'done'));
    view.close();
    expect(terminal.screen).toContain('done');
    expect(terminal.listenerCount('resize')).toBe(0);
  });
});
