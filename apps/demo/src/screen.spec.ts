import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import { Screen, type Terminal } from './screen.js';

/** What a terminal of a few rows shows, as far as the escape sequences that are used here go. */
class Shown extends EventEmitter implements Terminal {
  #lines: string[] = [];
  #row = 0;
  #region: [top: number, bottom: number];

  constructor(
    public rows: number,
    public columns: number,
  ) {
    super();
    this.#region = [0, rows - 1];
  }

  get lines(): string[] {
    return Array.from({ length: this.rows }, (_, row) => this.#lines[row] ?? '');
  }

  get region(): readonly [number, number] {
    return this.#region;
  }

  write(text: string): void {
    for (const [part, args = '', command] of text
      .replaceAll('\u001B', '␛')
      .matchAll(/␛\[([\d;]*)([A-Za-z])|\n|[^␛\n]+/g)) {
      if (command !== undefined) this.#obey(command, args.split(';').map(Number));
      else if (part === '\n') this.#scroll();
      else this.#lines[this.#row] = part;
    }
  }

  #obey(command: string, [first = 0, second = 0]: readonly number[]): void {
    if (command === 'H') this.#row = first - 1;
    if (command === 'J') this.#lines = [];
    if (command === 'r') this.#region = first === 0 ? [0, this.rows - 1] : [first - 1, second - 1];
  }

  #scroll(): void {
    const [top, bottom] = this.#region;
    if (this.#row < bottom) return void (this.#row += 1);
    this.#lines = this.lines.toSpliced(top, 1).toSpliced(bottom, 0, '');
  }
}

const HEADER = Array.from({ length: 30 }, (_, n) => `header ${n}`);

describe('the screen of the demo', () => {
  it.each([
    [24, 80],
    [12, 40],
  ])('keeps its header while lines scroll below it, in %i rows', (rows, columns) => {
    const terminal = new Shown(rows, columns);
    const screen = new Screen(terminal);
    screen.show(HEADER);
    for (let n = 0; n < 100; n += 1) screen.line(`line ${n}`);
    screen.show(HEADER.map((line) => `${line}!`));
    const [kept, below] = [terminal.lines.slice(0, rows - 6), terminal.lines.slice(rows - 6)];
    expect(kept).toEqual([...HEADER.slice(0, rows - 7).map((line) => `${line}!`), '─'.repeat(columns)]);
    expect(below).toEqual(Array.from({ length: 6 }, (_, n) => `line ${94 + n}`));
  });

  it('is drawn anew in another size, with the lines that were there', () => {
    const terminal = new Shown(24, 80);
    const screen = new Screen(terminal);
    screen.show(HEADER.slice(0, 3));
    for (let n = 0; n < 30; n += 1) screen.line(`line ${n}`);
    Object.assign(terminal, { rows: 10, columns: 5 });
    terminal.emit('resize');
    expect(terminal.lines.slice(0, 4)).toEqual(['head…', 'head…', 'head…', '─────']);
    expect(terminal.lines.at(-1)).toBe('line 29');
  });

  it('leaves a terminal that scrolls as a whole, and hears of nothing any more', () => {
    const terminal = new Shown(24, 80);
    const screen = new Screen(terminal);
    screen.show(HEADER);
    screen.close();
    expect(terminal.region).toEqual([0, 23]);
    expect(terminal.listenerCount('resize')).toBe(0);
  });
});
