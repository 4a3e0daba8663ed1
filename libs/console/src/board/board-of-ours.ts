import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ExpressAdapter } from '@bull-board/express';

type Done = (error: unknown, html?: string) => void;
type Render = (path: string, words: object, done: Done) => void;

/** The little of the board's own Express that is used here; it has no types of its own. */
interface BoardApp {
  readonly engines: Readonly<Record<string, Render>>;
  disable(setting: string): void;
  engine(name: string, render: Render): void;
  get(route: string, answer: (request: unknown, response: { json(body: object): unknown }) => void): void;
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

/**
 * What can't be done here is not offered: schedules and the data of jobs are not the board's to change, the ledger says when a
 * run may start, and a retry is an order about one run. The board has an option for none of these, so they go by their icons.
 */
const STYLE = `<style>
button:has(.lucide-pencil, .lucide-files, .lucide-corner-up-left),
[class*='jobActions'] li:has(.lucide-pencil, .lucide-files, .lucide-corner-up-left, .lucide-clock),
[class*='queueActions'] li:has(.lucide-refresh-cw, .lucide-corner-up-left),
[role='menuitem']:has(.lucide-plus, .lucide-refresh-cw) { display: none !important; }
#failed { background: #b3261e; color: #fff; font: 600 15px/1.4 system-ui, sans-serif; margin: 0; padding: 8px 16px; position: sticky; top: 0; z-index: 1000; }
[data-unknown] main { visibility: hidden; }
</style>`;

/**
 * What the board says about its bin. Its own words are about BullMQ's schedulers and would be wrong here. In English for every
 * language of the board: a wrong sentence in the reader's own is worse.
 */
const BIN_WORDS = {
  ACTIONS: { REMOVE: 'Pause or remove' },
  CONFIRM: {
    REMOVE:
      'Stop the cron "{{id}}"? If code of a live pod declares it, it is paused until an operator resumes it. Otherwise it is ' +
      'removed, and its history is kept.',
  },
  TOAST: {
    REMOVE_PENDING: 'Stopping {{id}}',
    REMOVE_DONE: '{{id}} no longer fires: it is paused if code of a live pod declares it, otherwise removed',
  },
} as const;

type Words = Record<string, Record<string, unknown>>;

function withBinWords(text: string): object {
  const { SCHEDULERS: schedulers = {}, ...others } = JSON.parse(text) as Record<string, Words>;
  const changed = Object.entries(BIN_WORDS).map(([group, words]) => [group, { ...schedulers[group], ...words }]);
  return { ...others, SCHEDULERS: { ...schedulers, ...Object.fromEntries(changed) } };
}

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

  override setStaticPath(route: string, folder: string): this {
    for (const language of readdirSync(join(folder, 'locales'))) {
      const file = `locales/${language}/messages.json`;
      const answer = () => withBinWords(readFileSync(join(folder, file), 'utf8'));
      (this.app as BoardApp).get(`${route}/${file}`, (_request, response) => void response.json(answer()));
    }
    super.setStaticPath(route, folder);
    return this;
  }
}

function ours(html: string, { base }: BoardWords): string {
  const known = `<base href="${base}" /><script src="${BASE_SCRIPT_FILE}"></script>${STYLE}`;
  return html.replaceAll(FROM_ELSEWHERE, '').replace(BASE, known);
}
