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

/** The board takes a failed request for an empty answer: where these lists failed, nothing is shown in their place. */
const LISTS = String.raw`/^api\/(queues|job-schedulers)$/`;

/**
 * Tells the board's page where it is. The board wants the path that the browser knows; the server only knows the way up, because
 * proxies in front strip prefixes and add some. The way up is there before, for what the browser loads ahead of scripts.
 *
 * And it says on top of the page when a request fails: the board says nothing, or that there is nothing.
 */
export const BASE_SCRIPT = `const here = new URL('./', document.currentScript.src).pathname;
document.querySelector('base').setAttribute('href', here);

const failed = new Map();

function wordsOf({ status, responseText }) {
  if (status === 0) return 'The scheduler did not respond.';
  try {
    const { error, detail } = JSON.parse(responseText);
    return detail ?? error ?? 'HTTP status ' + status + '.';
  } catch {
    return 'HTTP status ' + status + '.';
  }
}

function told(path, request) {
  if (request.status >= 200 && request.status < 400) failed.delete(path);
  else failed.set(path, wordsOf(request));
  show();
}

function show() {
  const [words] = failed.values();
  const note = document.getElementById('failed') ?? document.createElement('p');
  note.id = 'failed';
  note.setAttribute('role', 'alert');
  note.textContent = words === undefined ? '' : 'Not up to date: ' + words;
  if (words === undefined) note.remove();
  else document.body.prepend(note);
  const isUnknown = [...failed.keys()].some((path) => ${LISTS}.test(path));
  document.documentElement.toggleAttribute('data-unknown', isUnknown);
}

const { open } = XMLHttpRequest.prototype;
XMLHttpRequest.prototype.open = function (method, address, ...rest) {
  const { pathname } = new URL(address, document.baseURI);
  const path = pathname.startsWith(here) ? pathname.slice(here.length) : '';
  // A request that the board gave up itself says nothing.
  this.addEventListener('abort', () => (this.isAborted = true));
  if (method.toUpperCase() === 'GET' && path.startsWith('api/'))
    this.addEventListener('loadend', () => this.isAborted || told(path, this));
  return open.call(this, method, address, ...rest);
};
`;

/** What can't be done here is not offered: a schedule and the data of a job are not the board's to change. */
const STYLE = `<style>
button:has(.lucide-pencil), button:has(.lucide-files) { display: none; }
#failed { background: #b3261e; color: #fff; font: 600 15px/1.4 system-ui, sans-serif; margin: 0; padding: 8px 16px; position: sticky; top: 0; z-index: 1000; }
[data-unknown] main { visibility: hidden; }
</style>`;
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
  const known = `<base href="${base}" /><script src="${BASE_SCRIPT_FILE}"></script>${STYLE}`;
  return html.replaceAll(FROM_ELSEWHERE, '').replace(BASE, known);
}
