import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Locator, Page } from 'playwright-core';
import { ensureProgram } from '../../scripts/debian.mjs';

/** What is recorded of a page, below the caption. */
export const PICTURE = { width: 1080, height: 640 };
const CAPTION_PX = 76;
const GAP_PX = 10;
const FRAME_MS = 250;
const MAX_BYTES = 3_000_000;

const STYLE = `<!doctype html><style>
  body { margin: 0; font: 16px/1.4 system-ui, 'DejaVu Sans', sans-serif; background: #fff; color: #1a1d21; }
  header { box-sizing: border-box; height: ${CAPTION_PX}px; padding: 12px 20px; background: #eef2f7; border-bottom: 1px solid #ccd5e0; }
  header b { display: block; font-size: 13px; color: #3d5a80; }
  header span { font-size: 18px; }
  main { position: relative; height: ${PICTURE.height}px; overflow: hidden; }
  img { display: block; }
  pre { margin: 0; padding: 20px; font: 14px/1.5 'DejaVu Sans Mono', monospace; white-space: pre-wrap; }
  i { position: absolute; box-sizing: border-box; border: 3px solid #d6336c; border-radius: 8px; }
</style>`;

/** Colours of a terminal that are readable on white, by their number in an escape sequence. */
const INKS = {
  1: 'font-weight:bold',
  31: 'color:#b3261e',
  32: 'color:#1b6e3c',
  33: 'color:#8a5a00',
  90: 'color:#5f6b7a',
};

interface Frame {
  readonly picture: Buffer;
  ms: number;
}

/** What stands in a frame: markup, and a place in it that somebody looks at. */
interface Shown {
  readonly html: string;
  readonly at?: Locator | undefined;
}

/**
 * An animated picture of pages and terminals with a caption above. Where none is wanted a film takes no pictures, and what it
 * would have shown goes on all the same.
 */
export class Film {
  readonly #frames: Frame[] = [];
  #studio: Page | undefined;
  #header = '';

  constructor(private readonly isWanted: boolean) {}

  /** From here on. @param caption one plain sentence */
  async caption(title: string, caption: string, page: Page): Promise<void> {
    if (!this.isWanted) return;
    if (!this.#studio) {
      const viewport = { width: PICTURE.width, height: PICTURE.height + CAPTION_PX };
      this.#studio = await page.context().browser()?.newPage({ viewport });
    }
    this.#header = `<header><b>${title}</b><span>${caption}</span></header>`;
  }

  /** What the page shows now, for so long. @param at framed, so that it is seen */
  async shot(page: Page, ms: number, at?: Locator): Promise<void> {
    if (!this.isWanted) return;
    const picture = await page.screenshot({ animations: 'disabled' });
    await this.#take({ html: `<img src="data:image/png;base64,${picture.toString('base64')}">`, at }, ms);
  }

  /** Brings a part of the page to the top. */
  async scroll(page: Page, part: Locator): Promise<void> {
    if (this.isWanted) await page.evaluate(`scrollBy(0, ${((await part.boundingBox())?.y ?? 0) - GAP_PX})`);
  }

  /** All that the page shows until then, as quick as it was. */
  async until<T>(happened: Promise<T>, page: Page, at?: Locator): Promise<T> {
    const over = new AbortController();
    const end = () => over.abort();
    happened.then(end, end);
    while (this.isWanted && !over.signal.aborted) {
      const since = performance.now();
      await Promise.all([this.shot(page, FRAME_MS, at), wait(FRAME_MS)]);
      const frame = this.#frames.at(-1);
      if (frame) frame.ms += Math.round(performance.now() - since) - FRAME_MS;
    }
    return happened;
  }

  /** A command as it is typed, and then what it has printed. */
  async terminal(command: string, printed: string, ms: number): Promise<void> {
    const line = (typed: string) => `<pre><b>$ ${typed}</b>`;
    for (let typed = 4; typed < command.length; typed += 4) {
      await this.#take({ html: `${line(command.slice(0, typed))}▌</pre>` }, 90);
    }
    await this.#take({ html: `${line(command)}\n\n${inked(printed)}</pre>` }, ms);
  }

  /** Writes the film, with a program out of Debian's package `webp`. */
  async save(path: string): Promise<void> {
    if (!this.isWanted) return;
    const { command, env } = await ensureProgram('img2webp', { package: 'webp', log: console.error });
    const folder = mkdtempSync(join(tmpdir(), 'fencepost-film-'));
    const frames = this.#frames.flatMap(({ picture, ms }, n) => {
      const file = join(folder, `${n}.png`);
      writeFileSync(file, picture);
      return ['-d', `${ms}`, file];
    });
    await promisify(execFile)(command, ['-min_size', '-lossless', ...frames, '-o', path], { env });
    rmSync(folder, { recursive: true });
    const { size } = statSync(path);
    const seconds = this.#frames.reduce((sum, { ms }) => sum + ms, 0) / 1_000;
    console.error(`${path}: ${Math.round(seconds)} s, ${this.#frames.length} frames, ${size} bytes.`);
    if (size > MAX_BYTES) throw new Error(`Expected a film of at most ${MAX_BYTES} bytes, ${path} has ${size}.`);
  }

  async #take({ html, at }: Shown, ms: number): Promise<void> {
    if (!this.#studio) return;
    const box = await at?.boundingBox();
    const [x, y, w, h] = box ? [box.x - 6, box.y - 6, box.width + 12, box.height + 12] : [];
    const frame = box ? `<i style="left:${x}px;top:${y}px;width:${w}px;height:${h}px"></i>` : '';
    await this.#studio.setContent(`${STYLE}${this.#header}<main>${html}${frame}</main>`);
    const picture = await this.#studio.screenshot();
    const last = this.#frames.at(-1);
    if (last?.picture.equals(picture)) last.ms += ms;
    else this.#frames.push({ picture, ms });
  }
}

/** What a program has printed, as markup. */
function inked(printed: string): string {
  const escape = new RegExp(`${String.fromCodePoint(27)}\\[(\\d*)m`);
  const parts = printed.replaceAll('&', '&amp;').replaceAll('<', '&lt;').split(escape);
  return parts
    .map((part, n) => (n % 2 === 0 ? `${part}</span>` : `<span style="${Reflect.get(INKS, part) ?? ''}">`))
    .join('');
}
