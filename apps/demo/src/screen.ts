import { stripVTControlCharacters } from 'node:util';

/** What of a terminal is used here. */
export interface Terminal {
  readonly rows: number;
  readonly columns: number;
  write(text: string): unknown;
  on(event: 'resize', listener: () => void): unknown;
  off(event: 'resize', listener: () => void): unknown;
}

const ESC = '\u001B[';
/** So many rows are left to the lines below the header, however much it would like to say. */
const MIN_LINES = 6;
const MAX_KEPT = 200;

/** A header that stays, and lines that scroll below it. */
export class Screen {
  readonly #lines: string[] = [];
  #header: readonly string[] = [];
  #height = 0;
  readonly #redraw = () => this.#draw();

  constructor(private readonly terminal: Terminal) {
    terminal.on('resize', this.#redraw);
    this.#draw();
  }

  /** The new header, from the most important line to the least: those that do not fit are left out. */
  show(header: readonly string[]): void {
    if (header.join('\n') === this.#header.join('\n')) return;
    this.#header = header;
    if (this.#fitting().length > this.#height) return this.#draw();
    this.terminal.write(this.#top() + this.#toEnd());
  }

  line(text: string): void {
    this.#lines.push(text);
    if (this.#lines.length > MAX_KEPT) this.#lines.shift();
    this.terminal.write(`${this.#toEnd()}\n${text}`);
  }

  /** Leaves the terminal as a program without a header would. */
  close(): void {
    this.terminal.off('resize', this.#redraw);
    this.terminal.write(`${ESC}r${this.#toEnd()}\n`);
  }

  /** All of it anew: terminals differ in what they do with lines when they are resized. */
  #draw(): void {
    const { rows } = this.terminal;
    this.#height = Math.max(this.#fitting().length, Math.min(this.#height, this.#maxHeight()));
    const below = this.#lines.slice(-Math.max(1, rows - this.#height)).map((line) => `\n${line}`);
    this.terminal.write(
      `${ESC}r${ESC}2J${ESC}${this.#height + 1};${rows}r${this.#top()}${this.#toEnd()}${below.join('')}`,
    );
  }

  #maxHeight(): number {
    return Math.max(0, this.terminal.rows - MIN_LINES);
  }

  #fitting(): readonly string[] {
    const height = this.#maxHeight();
    // The last row is a rule, so that one sees where the lines begin.
    return height < 3 ? [] : [...this.#header.slice(0, height - 1), '─'.repeat(this.terminal.columns)];
  }

  #top(): string {
    const fitting = this.#fitting();
    const rows = Array.from({ length: this.#height }, (_, row) => cut(fitting[row] ?? '', this.terminal.columns));
    return rows.map((line, row) => `${ESC}${row + 1};1H${line}${ESC}K`).join('');
  }

  #toEnd(): string {
    return `${ESC}${this.terminal.rows};1H`;
  }
}

function cut(line: string, columns: number): string {
  const text = stripVTControlCharacters(line);
  return text.length <= columns ? text : `${text.slice(0, Math.max(0, columns - 1))}…`;
}
