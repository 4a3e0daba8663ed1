/** What of a terminal is used here. */
export interface Terminal {
  readonly out: {
    readonly rows: number;
    readonly columns: number;
    write(text: string): unknown;
    on(event: 'resize', listener: () => void): unknown;
    off(event: 'resize', listener: () => void): unknown;
  };
  readonly keys: {
    setRawMode(isRaw: boolean): unknown;
    on(event: 'data', listener: (key: Buffer) => void): unknown;
    off(event: 'data', listener: (key: Buffer) => void): unknown;
    pause(): unknown;
  };
}

const ESC = '\u001B[';
const [OPEN, CLOSE] = [`${ESC}?1049h${ESC}?25l`, `${ESC}?25h${ESC}?1049l`];
/** q, Ctrl-C and Ctrl-D: in raw mode they are letters. */
const QUIT = ['q', 'Q', '\u0003', '\u0004'];

interface Listener {
  readonly quit: () => void;
  readonly resized: () => void;
}

/** A terminal's other screen, which leaves what was there before as it was. */
export class LiveScreen {
  readonly #typed = (key: Buffer) => void (QUIT.some((quit) => key.includes(quit)) && this.listener.quit());

  constructor(
    private readonly terminal: Terminal,
    private readonly listener: Listener,
  ) {
    const { out, keys } = terminal;
    out.write(OPEN);
    out.on('resize', listener.resized);
    keys.setRawMode(true);
    keys.on('data', this.#typed);
  }

  get size(): { readonly rows: number; readonly columns: number } {
    const { rows, columns } = this.terminal.out;
    return { rows: rows || 24, columns: columns || 80 };
  }

  /** In place, line by line: a cleared screen would flicker. */
  draw(lines: readonly string[]): void {
    const shown = lines.slice(0, this.size.rows).map((line) => `${line}${ESC}0m${ESC}K`);
    this.terminal.out.write(`${ESC}H${shown.join('\r\n')}${ESC}J`);
  }

  close(): void {
    const { out, keys } = this.terminal;
    keys.off('data', this.#typed);
    keys.setRawMode(false);
    keys.pause();
    out.off('resize', this.listener.resized);
    out.write(CLOSE);
  }
}
