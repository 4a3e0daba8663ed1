import { Writable } from 'node:stream';

const INTRODUCER = '\u001b[';
const CONTROL = /^(\??\d*)(?:;\d+)?([A-Za-z])/;

/** As much of a terminal as the view needs: it shows what a person would see after all that was written to it. */
export class Terminal extends Writable {
  readonly isTTY = true;
  #lines: string[] = [''];
  #row = 0;
  #column = 0;

  constructor(
    readonly columns: number,
    readonly rows: number,
  ) {
    super({ decodeStrings: false });
  }

  hasColors(): boolean {
    return false;
  }

  /** The lines on the screen, without blanks at their ends. */
  get screen(): string[] {
    return this.#lines.slice(-this.rows).map((line) => line.trimEnd());
  }

  override _write(chunk: string, _encoding: BufferEncoding, done: () => void): void {
    for (let rest = chunk; rest !== '';) rest = rest.slice(this.#take(rest));
    done();
  }

  /** @returns how many characters were taken */
  #take(text: string): number {
    const control = text.startsWith(INTRODUCER) && CONTROL.exec(text.slice(INTRODUCER.length));
    if (control) {
      this.#control(control[2] ?? '', Number(control[1] || '1'));
      return INTRODUCER.length + control[0].length;
    }
    if (text.startsWith('\n')) this.#newLine();
    else this.#put(text[0] ?? '');
    return 1;
  }

  #newLine(): void {
    [this.#row, this.#column] = [this.#row + 1, 0];
    this.#lines[this.#row] ??= '';
  }

  #put(character: string): void {
    const line = (this.#lines[this.#row] ?? '').padEnd(this.#column);
    this.#lines[this.#row] = line.slice(0, this.#column) + character + line.slice(this.#column + 1);
    this.#column += 1;
  }

  #control(command: string, amount: number): void {
    const line = this.#lines[this.#row] ?? '';
    if (command === 'A') this.#row = Math.max(0, this.#row - amount);
    if (command === 'B') this.#row = Math.min(this.#lines.length - 1, this.#row + amount);
    if (command === 'G') this.#column = 0;
    if (command === 'K') this.#lines[this.#row] = amount === 2 ? '' : line.slice(0, this.#column);
    if (command === 'J') this.#lines = [''];
    if (command === 'H') [this.#row, this.#column] = [0, 0];
  }
}
