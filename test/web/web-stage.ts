import { once } from 'node:events';
import { createReadStream, existsSync, readFileSync, statSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join, normalize } from 'node:path';
import { json } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { BROWSER_PATIENCE_MS, openBrowser } from '../../scripts/browser.mjs';
import { ensureBuilt } from '../../scripts/build.mjs';
import { crons, detail, timeline, why } from './fixture-crons.js';
import {
  AUDIT,
  CLEARED,
  FINDINGS,
  JOURNAL,
  LEASES,
  MUTES,
  RECEIVER,
  leases,
  DUE_AT,
  FORECAST,
  OWN_LEASES,
  PODS,
  TRIAGE,
  WELL,
  WATCH,
} from './fixture-rest.js';
import { CRON, FAILED, FAILURES, run } from './fixture-runs.js';
import { batchOf, bulkOf, changeOf, runPage, runsFound, type BatchBody, type BulkBody } from './fixture-run-answers.js';

interface Fixture {
  readonly role: 'viewer' | 'operator' | 'admin';
  /** How many crons there are. */
  readonly crons: number;
  /** Of those a scheduler holds these; default: none but the two of always. */
  readonly held?: number;
  /** How many of the last ones nobody holds. */
  readonly unheld?: number;
  /** Nothing needs a person. */
  readonly isWell?: boolean;
}

type Answer = (url: URL, fixture: Fixture) => unknown;

const cron = `crons/${CRON}`;

/** What the API answers, by its path under `/api/`. */
const ANSWERS: Readonly<Record<string, Answer>> = {
  me: (_, { role }) => ({ name: 'anna', role, signedIn: true }),
  overview: (_, { role, crons: total }) => ({
    ...{ now: new Date().toISOString(), tenant: null, prefix: 'fencepost', ledger: 'redis', version: '0.1.0' },
    ...{
      you: { name: 'anna', role, signedIn: true },
      crons: { total, active: total, paused: 0, disabled: 0, removed: 0 },
    },
    ...{
      uncertain: 1,
      failed: 1,
      failedComplete: true,
      queue: { waiting: 4, active: 3, delayed: 0 },
      pods: PODS,
      unreported: [],
    },
  }),
  crons: listed,
  triage: (_, { isWell = false }) => (isWell ? WELL : TRIAGE),
  [cron]: () => detail(),
  [`${cron}/timeline`]: () => timeline(),
  [`${cron}/why`]: (url) => why(url.searchParams.get('at') ?? ''),
  [`${cron}/runs`]: () => ({ items: [run(), FAILED] }),
  [`${cron}/journal`]: () => ({ items: JOURNAL }),
  runs: runsFound,
  leases: (url, { held }) => {
    const tag = url.searchParams.get('tag');
    const own = LEASES.slice(0, tag === null ? undefined : Number(tag === 'billing'));
    const all = held === undefined ? own : leases(held);
    return {
      total: all.length,
      items: all.slice(0, Number(url.searchParams.get('limit') ?? 50)),
      next: null,
      free: [],
    };
  },
  'own-leases': (url) => {
    const kind = url.searchParams.get('kind');
    const items = OWN_LEASES.filter((one) => kind === null || one.kind === kind);
    return { items, next: url.searchParams.has('cursor') ? null : 'semaphores:' };
  },
  'own-leases/watch': () => WATCH,
  [`leases/${CRON}/watch`]: () => WATCH,
  pods: () => ({ items: PODS, unreported: [] }),
  upcoming: ({ searchParams }) => ({ ...FORECAST, ...(searchParams.has('tag') && { stampedes: [] }) }),
  'upcoming/at': ({ searchParams }) => ({ ...DUE_AT, ...(searchParams.has('tag') && { crons: [CRON], count: 1 }) }),
  doctor: () => ({ items: FINDINGS }),
  journal: () => ({ items: JOURNAL, next: null }),
  audit: () => ({ items: AUDIT, next: null }),
  mutes: () => ({ items: MUTES }),
  receivers: () => ({ items: [RECEIVER] }),
};

function listed({ searchParams }: URL, { crons: count, unheld = 0 }: Fixture): unknown {
  const word = searchParams.get('search') ?? '';
  const state = searchParams.get('state') ?? '';
  const all = crons(count);
  const fixture = (state === 'unheld' ? all.slice(count - unheld) : all).filter(
    (one) => one.name.includes(word) && ['', 'unheld', one.state, one.health.state].includes(state),
  );
  const [from, limit] = [Number(searchParams.get('cursor') ?? 0), Number(searchParams.get('limit') ?? 50)];
  const to = from + limit;
  return {
    total: fixture.length,
    items: fixture.slice(from, to),
    unreadable: [],
    next: to < fixture.length ? String(to) : null,
  };
}

/** @returns `undefined` for what is not there */
function answer(url: URL, fixture: Fixture): unknown {
  const path = decodeURIComponent(url.pathname.slice('/api/'.length));
  if (path === 'runs/failures') return { items: FAILURES, complete: true };
  if (path.startsWith('runs/')) return runPage(path.slice('runs/'.length));
  return ANSWERS[path]?.(url, fixture);
}

const WEB = fileURLToPath(new URL('../../libs/console/web/dist', import.meta.url));

/** As strict as it gets: nothing inline, nothing from elsewhere. */
const POLICY = "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
};

const FAILING = { code: 'failing', detail: 'It is meant to fail.' };

export interface Posted {
  readonly path: string;
  readonly body: unknown;
}

/** Within ten seconds, however busy the machine is. */
export const SOON = { timeout: 10_000 };

/** The stage of a file's tests: open before them, as new for each, closed after them. */
export function useWebStage(): WebStage {
  const stage = new WebStage();
  beforeAll(() => stage.open(), BROWSER_PATIENCE_MS);
  afterEach(() => stage.reset());
  afterAll(() => stage.close());
  return stage;
}

/** The page, built from its sources, in a real browser, before a server whose answers are known. */
class WebStage {
  /** What the next answers are made of; a test changes it. */
  fixture: Fixture = { role: 'admin', crons: 8 };
  /** A status that every question of the API is answered with, instead of its answer. */
  failing: number | null = null;
  /** Questions of the API are answered only after it. */
  held: Promise<void> | null = null;
  /** Whether its heartbeats say that the store does not answer. */
  isBlind = false;
  /** A status that every order is answered with. */
  refusing: number | null = null;
  readonly posted: Posted[] = [];
  /** What the browser said in its console, and what it refused. */
  readonly complaints: string[] = [];
  readonly #streams = new Set<ServerResponse>();

  readonly #server: Server = createServer((request, response) => void this.#respond(request, response));
  readonly #contexts: BrowserContext[] = [];
  #browser: Browser | null = null;

  async open(): Promise<void> {
    await ensureBuilt();
    this.#server.listen(0, '127.0.0.1');
    [this.#browser] = await Promise.all([openBrowser(), once(this.#server, 'listening')]);
  }

  async close(): Promise<void> {
    await this.#browser?.close();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** Back to what a test begins with: its pages are closed. */
  async reset(): Promise<void> {
    await Promise.all(this.#contexts.splice(0).map((context) => context.close()));
    this.fixture = { role: 'admin', crons: 8 };
    this.failing = null;
    this.isBlind = false;
    this.held = null;
    this.refusing = null;
    this.posted.length = 0;
    this.complaints.length = 0;
  }

  /** A page of its own context: nothing is remembered from the one before. */
  async page(path = '/crons/', options: BrowserContextOptions = {}): Promise<Page> {
    if (!this.#browser) throw new Error('Expected the stage to be open.');
    const context = await this.#browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
    this.#contexts.push(context);
    const page = await context.newPage();
    page.setDefaultTimeout(10_000);
    page.on('console', (message) => message.type() === 'error' && this.complaints.push(message.text()));
    page.on('pageerror', (error) => this.complaints.push(error.message));
    await page.goto(this.url(path));
    return page;
  }

  url(path: string): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}${path}`;
  }

  /** Sends an event to whoever listens. */
  tell(entry: object): void {
    for (const stream of this.#streams) stream.write(`event: journal\ndata: ${JSON.stringify(entry)}\n\n`);
  }

  listeners(): number {
    return this.#streams.size;
  }

  dropStreams(): void {
    for (const stream of this.#streams) stream.destroy();
  }

  async #respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // As the console does where it is mounted.
    const url = new URL((request.url ?? '/').replace(/^\/crons/, ''), this.url('/'));
    response.setHeader('content-security-policy', POLICY);
    if (!/^\/(api\/|session$)/.test(url.pathname)) this.#file(url, response);
    else if (this.failing !== null && !isSignIn(request, url)) reply(response, this.failing, FAILING);
    else if (request.method === 'DELETE' && url.pathname === '/session') response.writeHead(204).end();
    else if (request.method !== 'GET') await this.#order(url, request, response);
    else if (url.pathname === '/api/events') this.#stream(response);
    else {
      await this.held;
      found(response, answer(url, this.fixture));
    }
  }

  async #order(url: URL, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = request.method === 'DELETE' ? Object.fromEntries(url.searchParams) : await json(request);
    if (this.refusing !== null) return reply(response, this.refusing, FAILING);
    this.posted.push({ path: decodeURIComponent(url.pathname), body });
    if (url.pathname === '/session') this.failing = null;
    if (url.pathname === '/api/runs/orders') return reply(response, 200, batchOf(body as BatchBody));
    if (url.pathname === '/api/crons/orders') return reply(response, 200, bulkOf(body as BulkBody));
    if (/^\/api\/crons\/[^/]+$/.test(url.pathname) && request.method === 'DELETE')
      return reply(response, 200, { cron: CRON, done: true, declaredBy: 'billing' });
    if (request.method === 'PUT') return reply(response, 200, changeOf(decodeURIComponent(url.pathname), body));
    const backfill = { instants: 6, accepted: 3, left: { succeeded: 2, ahead: 1 }, nextFrom: null, estimateMs: 90_000 };
    reply(response, 200, { ...backfill, ...CLEARED, aborted: false, verdict: 'claimed', outcome: 'delivered' });
  }

  #stream(response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    const beat = () => response.write(`event: heartbeat\ndata: ${JSON.stringify({ storeAnswers: !this.isBlind })}\n\n`);
    beat();
    const timer = setInterval(beat, 200);
    this.#streams.add(response);
    response.on('close', () => {
      clearInterval(timer);
      this.#streams.delete(response);
    });
  }

  #file({ pathname }: URL, response: ServerResponse): void {
    const file = join(WEB, normalize(pathname));
    const isFile = existsSync(file) && statSync(file).isFile();
    response.writeHead(200, {
      'content-type': isFile ? (TYPES[extname(file)] ?? 'application/octet-stream') : 'text/html',
    });
    if (isFile) return void createReadStream(file).pipe(response);
    const html = readFileSync(join(WEB, 'index.html'), 'utf8');
    const up = '../'.repeat(pathname.split('/').length - 2) || './';
    response.end(html.replaceAll('="./', `="${up}`).replace('<html ', `<html data-up="${up}" data-board="yes" `));
  }
}

function isSignIn({ method }: IncomingMessage, { pathname }: URL): boolean {
  return method === 'POST' && pathname === '/session';
}

function found(response: ServerResponse, body: unknown): void {
  if (body === undefined) reply(response, 404, { code: 'unknown', message: 'Expected something that is there.' });
  else reply(response, 200, body);
}

function reply(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}
