import type { Browser, BrowserContextOptions, Locator, Page, Request } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { newToken, type AccessRole, type NewToken } from '@fencepost/operations/access-tokens';
import { BROWSER_PATIENCE_MS, openBrowser } from '../../scripts/browser.mjs';
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
  /** Open until the file ends, and not only until its test does. */
  readonly stays?: boolean;
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
  async visit(path: string, { as = 'admin', pod = this.pod, stays = false, ...options }: Visit = {}): Promise<Page> {
    const context = await this.#browser?.newContext({ viewport: { width: 1280, height: 900 }, ...options });
    if (!context) throw new Error('Expected a browser.');
    if (as !== null) {
      // As signing in sets it.
      const place = { domain: new URL(pod.url).hostname, path: '/crons' };
      await context.addCookies([{ name: 'fencepost_session', value: TOKENS[as].secret, ...place }]);
    }
    const page = await context.newPage();
    page.setDefaultTimeout(SOON.timeout);
    if (!stays) this.#pages.push(page);
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
    const response = await fetch(`${this.pod.url}/crons/api/${path}`, { headers });
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

/**
 * A stage for all tests of the file.
 * @param env of every pod
 * @param address of the Redis, asked before the tests
 */
export function useStage(env: Readonly<Record<string, string>> = {}, address: () => string = testRedis): Stage {
  const stage = new Stage(new Deployment(usePodsOfFile(), address));
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

/** What somebody may have put into an error, or into an address. */
export const MARKUP = '<img src=x onerror=alert(1)>';

/** Ids of runs worth a look. */
export interface Setup {
  readonly asking: string;
  readonly failed: string;
  readonly done: string;
}

const PATIENCE_MS = 60_000;
const BY = { by: 'anna', reason: 'the mail server moves' };

/** A deployment as one may find it: crons of each state, runs that went well, one that failed, one that asks. */
export async function setUp(stage: Stage): Promise<Setup> {
  const { pods, stores } = stage.deployment;
  await Promise.all([
    pods.worker('worker', { env: { CRONS: 'shown' } }),
    pods.scheduler('scheduler-2'),
    declare(stage),
  ]);
  await stores.operator.pause('invoice-mail', BY);
  await stores.crons.remove('old-export', { by: 'anna', reason: 'replaced by nightly-export' });
  const [asking, failed, done] = [
    await stage.trigger('newsletter', 'anna'),
    await stage.trigger('label-print', 'otto'),
    await stage.trigger('nightly-export', 'anna'),
  ];
  await Promise.all([
    stage.comesTo(asking, 'uncertain'),
    stage.comesTo(failed, 'failed'),
    stage.comesTo(done, 'succeeded'),
  ]);
  await runsOfCacheWarm(stage, 3);
  return { asking, failed, done };
}

/** Enough for a picture of it: runs, a pause, and runs again. */
export async function letItRun(stage: Stage): Promise<void> {
  const { operator, ledger } = stage.deployment.stores;
  await runsOfCacheWarm(stage, 20);
  const pause = await operator.pause('cache-warm', BY);
  await until(
    'some instants went by',
    async () => ((await ledger.readCron('cache-warm')).cursor ?? 0) > pause.since + 6_000,
  );
  await operator.resume('cache-warm', BY);
  await runsOfCacheWarm(stage, 35);
}

/** What fires each second leaves nothing else to see of the day. */
export async function leaveOutCacheWarm({ deployment: { stores } }: Stage): Promise<void> {
  await stores.crons.remove('cache-warm', BY);
}

async function runsOfCacheWarm(stage: Stage, least: number): Promise<void> {
  const ran = async () => {
    const runs = await stage.deployment.runsOf('cache-warm');
    return runs.filter(({ state }) => state === 'succeeded').length >= least;
  };
  await until(`cache-warm has ${least} runs`, ran, PATIENCE_MS);
}

async function declare(stage: Stage): Promise<void> {
  const berlin = { timeZone: 'Europe/Berlin' };
  await stage.cron('nightly-export', { handler: 'lasting', expression: '30 2 * * *', ...berlin });
  await stage.cron('invoice-mail', { handler: 'lasting', expression: '0 8 1 * *', ...berlin });
  await stage.cron('newsletter', { handler: 'asking', expression: '0 9 * * 1', timeZone: 'America/New_York' });
  await stage.cron('label-print', {
    handler: 'failing',
    expression: '*/30 * * * *',
    payload: { text: `No paper: ${MARKUP}` },
  });
  await stage.cron('cache-warm', { handler: 'lasting', expression: '* * * * * *' });
  await stage.cron('price-feed', { handler: 'lasting', expression: '*/3 6-18 * * *' });
  await stage.cron('old-export', { handler: 'lasting', expression: '0 1 * * *' });
  for (const part of ['a', 'b', 'c', 'd', 'e', 'f']) {
    await stage.cron(`stock-sync-${part}`, { handler: 'lasting', expression: '0 * * * *' });
  }
}
