import type { Browser, BrowserContextOptions, Locator, Page, Request } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { newToken, type AccessRole, type NewToken } from '@fencepost/operations/access-tokens';
import { BROWSER_PATIENCE_MS, openBrowser } from '../support/browser.js';
import { Deployment } from '../support/deployment.js';
import type { Pod } from '../support/pod.js';
import { usePodsOfFile } from '../support/pods.js';
import { testRedis } from '../support/redis.js';
import { until } from '../support/until.js';

/** What a page may not do: complain in the console, break its policy, or ask anybody but the pod it came from. */
class Watched {
  /** In the order they came. */
  readonly complaints: string[] = [];
  readonly requests: string[] = [];

  constructor(page: Page, home: string) {
    page.on('console', (message) => message.type() === 'error' && this.complaints.push(message.text()));
    page.on('pageerror', (error) => this.complaints.push(String(error)));
    page.on('request', (request) => this.#see(request, home));
    page.on('dialog', (dialog) => {
      this.complaints.push(`A dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
  }

  #see(request: Request, home: string): void {
    const url = new URL(request.url());
    if (url.origin === home) this.requests.push(`${request.method()} ${url.pathname}`);
    else if (url.protocol !== 'data:' && url.protocol !== 'blob:') this.complaints.push(`Asked ${url.href}`);
  }
}

/** Generous, because only a test that fails waits for so long: the pods, the browser and the store share the machine. */
export const SOON = { timeout: 15_000 };

/** Who may what, by the names that stand in the records. */
const PEOPLE = { viewer: 'vera', operator: 'otto', admin: 'anna' } as const;

export const TOKENS: Readonly<Record<keyof typeof PEOPLE, NewToken>> = {
  viewer: newToken(PEOPLE.viewer, 'viewer'),
  operator: newToken(PEOPLE.operator, 'operator'),
  admin: newToken(PEOPLE.admin, 'admin'),
};

const ACCESS = {
  FENCEPOST_TOKENS: Object.values(TOKENS)
    .map(({ line }) => line)
    .join(','),
  // All that the tests ask comes from one address.
  FENCEPOST_RATE_LIMIT: '1000000',
};

export interface Visit extends BrowserContextOptions {
  /** `null`: without a token. */
  readonly as?: AccessRole | null;
  /** Default: the stage's own. */
  readonly pod?: Pod;
}

export interface Made {
  readonly handler: string;
  readonly expression?: string;
  readonly timeZone?: string;
  readonly payload?: unknown;
}

/** A deployment of real pods, and a browser before it. What a file's tests share; each of them has crons of its own. */
export class Stage {
  /** What the pages of this test said and asked. */
  readonly watched: Watched[] = [];
  readonly #pages: Page[] = [];
  #browser: Browser | undefined;
  #pod: Pod | undefined;

  constructor(readonly deployment: Deployment) {}

  /** The one that serves the pages, unless a visit says another. */
  get pod(): Pod {
    if (!this.#pod) throw new Error('Expected to be used inside of a test, after its beforeAll.');
    return this.#pod;
  }

  async open(env: Readonly<Record<string, string>>): Promise<void> {
    const [browser] = await Promise.all([openBrowser(), this.deployment.open({ ...ACCESS, ...env })]);
    this.#browser = browser;
    this.#pod = await this.deployment.pods.scheduler('scheduler');
  }

  async close(): Promise<void> {
    await this.#browser?.close();
    await this.deployment.close();
  }

  /** A page of its own context: nothing is remembered from the one before. */
  async visit(path: string, { as = 'admin', pod = this.pod, ...options }: Visit = {}): Promise<Page> {
    const context = await this.#browser?.newContext({ viewport: { width: 1280, height: 900 }, ...options });
    if (!context) throw new Error('Expected a browser.');
    if (as !== null) {
      await context.addCookies([{ name: 'fencepost_session', value: TOKENS[as].secret, url: pod.url }]);
    }
    const page = await context.newPage();
    page.setDefaultTimeout(SOON.timeout);
    this.#pages.push(page);
    this.watched.push(new Watched(page, pod.url));
    await page.goto(pod.url + path);
    return page;
  }

  /** All that the pages of this test may not do and did. */
  complaints(): string[] {
    return this.watched.flatMap(({ complaints }) => complaints);
  }

  async endVisits(): Promise<void> {
    this.watched.length = 0;
    await Promise.all(this.#pages.splice(0).map((page) => page.context().close()));
  }

  /** What the API answers to somebody with a token of this role. */
  async ask<Answer>(path: string, as: AccessRole = 'admin'): Promise<Answer> {
    const headers = { authorization: `Bearer ${TOKENS[as].secret}` };
    const response = await fetch(`${this.pod.url}/api/${path}`, { headers });
    if (!response.ok)
      throw new Error(`Expected an answer to ${path}, got ${response.status}: ${await response.text()}`);
    return response.json() as Promise<Answer>;
  }

  /** A cron whose runs a method of the worker's carries out; without an expression it fires when somebody asks for it. */
  async cron(name: string, settings: Made) {
    const by = { by: 'the test' };
    return this.deployment.stores.crons.set(name, { expression: '@manual', overlap: 'allow', ...settings }, by);
  }

  /** A run of the cron that somebody asks for. @returns its id */
  async trigger(cron: string, by = 'the test'): Promise<string> {
    const reply = await this.deployment.stores.operator.trigger(cron, { by });
    if (reply.verdict !== 'claimed') throw new Error(`Expected a run of ${cron}, got ${reply.verdict}.`);
    return reply.runId;
  }

  /** Until the run has come to this state. */
  async comesTo(runId: string, state: string): Promise<void> {
    await until(`${runId} is ${state}`, async () => {
      return (await this.deployment.stores.ledger.readRun(runId))?.state === state;
    });
  }

  closeGate(cron: string): Promise<unknown> {
    return this.deployment.stores.redis.sadd(`${this.deployment.prefix}:closed-gates`, cron);
  }

  openGate(cron: string): Promise<unknown> {
    return this.deployment.stores.redis.srem(`${this.deployment.prefix}:closed-gates`, cron);
  }
}

/** A stage for all tests of the file. @param env of every pod */
export function useStage(env: Readonly<Record<string, string>> = {}): Stage {
  const stage = new Stage(new Deployment(usePodsOfFile(), testRedis));
  beforeAll(() => stage.open(env), BROWSER_PATIENCE_MS);
  afterEach(async ({ task }) => {
    if (task.result?.state === 'fail') console.error(`The pages said:\n${stage.complaints().join('\n')}`);
    await stage.endVisits();
  });
  afterAll(() => stage.close());
  return stage;
}

/** Until these words stand in the page's main part, or in a part of it. */
export async function shows(part: Page | Locator, ...words: readonly string[]): Promise<void> {
  const place = 'goto' in part ? part.locator('main') : part;
  for (const word of words) await expect.poll(() => place.innerText(), SOON).toContain(word);
}

export const runPath = (runId: string) => `/crons/run/${encodeURIComponent(runId)}`;
export const cronPath = (cron: string) => `/crons/cron/${encodeURIComponent(cron)}`;

/** What an element is remembered by, to see later whether the page is still the same one. */
export const mark = (page: Page) => page.evaluate('window.marked = true');
export const isMarked = (page: Page) => page.evaluate('window.marked === true');
