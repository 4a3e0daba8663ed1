import { createLogUpdate } from 'log-update';
import type { WriteStream } from 'node:tty';
import { layout } from './layout.js';
import type { Scene } from './scene.js';

const CLEAR_SCREEN = '\u001b[2J\u001b[H';

/** The living view: redraws what has changed since the frame before. */
export class View {
  readonly #update;
  readonly #colour: boolean;

  constructor(private readonly stream: WriteStream) {
    this.#update = createLogUpdate(stream);
    this.#colour = stream.hasColors();
    stream.on('resize', this.#clear);
  }

  /** One column and one row stay free: a full line would wrap, and a full screen scroll. */
  show(scene: Scene): void {
    const { columns, rows } = this.stream;
    const lines = layout(scene, { columns: columns - 1, rows: rows - 1, colour: this.#colour });
    // log-update loses count of its lines when the last one it redraws is empty.
    this.#update(lines.map((line) => line || ' ').join('\n'));
  }

  /** The last frame stays, and the cursor comes back. */
  close(): void {
    this.stream.off('resize', this.#clear);
    this.#update.done();
    this.stream.write('\n');
  }

  /** The terminal has wrapped the old frame in its own way, so that nobody knows any more where its lines are. */
  readonly #clear = (): void => {
    this.#update.clear();
    this.stream.write(CLEAR_SCREEN);
  };
}
