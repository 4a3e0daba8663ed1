import { createServer, request, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { Injectable, Module } from '@nestjs/common';
import type { INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ConsoleModule } from '@fencepost/console';
import { JobsModule, SingletonCron } from '@fencepost/jobs';
import { BROWSER_PATIENCE_MS, openBrowser } from '../../scripts/browser.mjs';
import { freshPrefix, testRedis } from '../support/redis.js';
import { shows, SOON, TOKENS } from './stage.js';

const PLATFORMS = { express: () => new ExpressAdapter(), fastify: () => new FastifyAdapter() };
type Platform = keyof typeof PLATFORMS;

@Injectable()
class Nightly {
  @SingletonCron('0 3 * * *', { name: 'nightly-report', timeZone: 'Europe/Berlin' })
  async report(): Promise<void> {}
}

let browser: Browser;
beforeAll(async () => void (browser = await openBrowser()), BROWSER_PATIENCE_MS);
afterAll(() => browser.close());

/** Strips its own prefix and adds one, as proxies do. */
async function proxyTo(port: number): Promise<Server> {
  const proxy = createServer((incoming, response) => {
    const { method, headers, url = '' } = incoming;
    const path = url.replace(/^\/tools\//, '/v1/');
    const outgoing = request({ host: '127.0.0.1', port, method, headers, path }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    response.on('close', () => outgoing.destroy());
    outgoing.on('error', () => response.destroy());
    incoming.pipe(outgoing);
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  return proxy;
}

const portOf = (server: Server) => (server.address() as AddressInfo).port;

describe.each(Object.keys(PLATFORMS) as Platform[])('the console in an application on %s', (platform) => {
  let app: INestApplication;
  let proxy: Server;
  let page: Page;
  const complaints: string[] = [];

  beforeAll(async () => {
    const jobs = JobsModule.forRoot({
      roles: ['scheduler', 'worker'],
      redis: testRedis(),
      prefix: freshPrefix(),
      log: false,
    });
    const auth = { tokens: TOKENS.admin.line };
    const imports = [jobs, ConsoleModule.forRoot({ path: '/ops/crons', auth, rateLimit: 100_000 })];
    @Module({})
    class AppModule {}
    const module = { module: AppModule, imports, providers: [Nightly] };
    app = await NestFactory.create(module, PLATFORMS[platform](), { logger: false, abortOnError: false });
    app.setGlobalPrefix('v1');
    await app.listen(0, '127.0.0.1');
    proxy = await proxyTo(portOf(app.getHttpServer() as Server));
    page = await (await browser.newContext({ viewport: { width: 1280, height: 900 } })).newPage();
    page.setDefaultTimeout(SOON.timeout);
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on(
      'response',
      (response) => response.status() > 401 && complaints.push(`${response.status()} ${response.url()}`),
    );
  });

  afterAll(async () => {
    await page.context().close();
    proxy.closeAllConnections();
    proxy.close();
    await app.close();
  });

  const shoot = async (name: string) => {
    const folder = process.env['SCREENSHOTS'];
    if (folder !== undefined) await page.screenshot({ path: `${folder}/${platform}-${name}.png` });
  };

  it.each([
    ['below a prefix', () => `http://127.0.0.1:${portOf(app.getHttpServer() as Server)}/v1`],
    ['behind a proxy with a prefix of its own', () => `http://127.0.0.1:${portOf(proxy)}/tools`],
  ])('works %s: page, events, board and documentation', async (where, home) => {
    const at = `${home()}/ops/crons`;
    await page.context().clearCookies();
    await page.goto(at);
    await page.getByLabel('Token').fill(TOKENS.admin.secret);
    await page.keyboard.press('Enter');
    await shows(page, 'nightly-report', '0 3 * * *');
    await page.locator('.live.live').waitFor();
    const [cookie] = await page.context().cookies(`${at}/`);
    expect(cookie?.path).toBe(new URL(at).pathname);
    await page.getByRole('link', { name: 'nightly-report' }).click();
    await shows(page, 'Europe/Berlin');
    expect(page.url()).toContain(`${at}/cron/nightly-report`);
    await page.reload();
    await shows(page, 'Europe/Berlin');
    await shoot(`cron ${where}`);
    await page.getByRole('link', { name: 'Queues' }).click();
    await page.locator('a[href*="queue/"]').first().waitFor();
    await page.goto(`${at}/queues/job-schedulers`);
    await page.getByText('nightly-report').first().waitFor();
    await shoot(`board ${where}`);
    await page.goto(at);
    await page.getByRole('link', { name: 'API' }).click();
    await page.getByText('/api/crons/{cron}/pause').first().waitFor();
    await shoot(`docs ${where}`);
    expect(complaints).toEqual([]);
  });
});
