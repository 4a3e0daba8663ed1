import { ExpressAdapter } from '@bull-board/express';

type Done = (error: unknown, html?: string) => void;
type Render = (path: string, words: object, done: Done) => void;

/** The little of the board's own Express that is used here; it has no types of its own. */
interface BoardApp {
  readonly engines: Readonly<Record<string, Render>>;
  disable(setting: string): void;
  engine(name: string, render: Render): void;
}

/** Its page has the fonts of somebody else in it, who would be told of everybody that looks at the board. */
const FROM_ELSEWHERE = /<link [^>]*href="https?:[^>]*>/g;

const BASE = /<base href="[^"]*" *\/>/;

/**
 * Tells the board's page where it is. The board wants the path that the browser knows; the server only knows the way up, because
 * proxies in front strip prefixes and add some. The way up is there before, for what the browser loads ahead of scripts.
 */
export const BASE_SCRIPT = `const here = new URL('./', document.currentScript.src).pathname;
document.querySelector('base').setAttribute('href', here);
`;
/** Where the script is, from the board's own place. */
export const BASE_SCRIPT_FILE = 'base.js';

/** Words of the template beside the board's own: the board's own place, from the address that was asked. */
export interface BoardWords {
  readonly base: string;
}

/** Bull Board as it comes, but its page asks nobody except the pod that serves it, and finds out itself where it is. */
export class BoardOfOurs extends ExpressAdapter {
  override setViewsPath(folder: string): this {
    super.setViewsPath(folder);
    const app = this.app as BoardApp;
    // It would say what it is made of.
    app.disable('x-powered-by');
    const render = app.engines['.ejs'];
    if (!render) throw new Error('Expected the board to render its page with ejs, it does so in another way.');
    app.engine('ejs', (path, words, done) =>
      render(path, words, (error, html) => done(error, html === undefined ? html : ours(html, words as BoardWords))),
    );
    return this;
  }
}

function ours(html: string, { base }: BoardWords): string {
  const known = `<base href="${base}" /><script src="${BASE_SCRIPT_FILE}"></script>`;
  return html.replaceAll(FROM_ELSEWHERE, '').replace(BASE, known);
}
