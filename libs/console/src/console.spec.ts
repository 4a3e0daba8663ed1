import type { AddressInfo } from 'node:net';
import { BadRequestException, Controller, Get, Module } from '@nestjs/common';
import type { CallHandler, CanActivate, DynamicModule, INestApplication, PipeTransform } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { JobsModule, type Role } from '@fencepost/jobs';
import { newToken } from '@fencepost/operations/access-tokens';
import { map } from 'rxjs';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { freshPrefix, testRedis } from '../../../test/support/redis.js';

import { ConsoleModule } from './index.js';

const ADMIN = newToken('anna', 'admin');
const BEARER = { authorization: `Bearer ${ADMIN.secret}` };
const PLATFORMS = { express: () => new ExpressAdapter(), fastify: () => new FastifyAdapter() };
type Platform = keyof typeof PLATFORMS;

@Controller()
class Own {
  @Get('own')
  own() {
    return { mine: true };
  }

  /** Such as a page of one's own may need. */
  @Get('*')
  anything() {
    return { mine: 'anything' };
  }
}

const jobs = (...roles: Role[]) => JobsModule.forRoot({ roles, redis: testRedis(), prefix: freshPrefix(), log: false });

const apps: INestApplication[] = [];
const closeAll = () => Promise.all(apps.splice(0).map((app) => app.close()));

async function appOf(platform: Platform, ...imports: DynamicModule[]): Promise<INestApplication> {
  @Module({})
  class AppModule {}
  const module = { module: AppModule, imports, controllers: [Own] };
  const app = await NestFactory.create(module, PLATFORMS[platform](), { logger: false, abortOnError: false });
  apps.push(app);
  return app;
}

async function listening(app: INestApplication): Promise<string> {
  await app.listen(0, '127.0.0.1');
  return `http://127.0.0.1:${(app.getHttpServer().address() as AddressInfo).port}`;
}

const refuseAll: CanActivate = { canActivate: () => false };
const wrapAll = {
  intercept: (_: unknown, next: CallHandler) => next.handle().pipe(map((data: unknown) => ({ data }))),
};
const pickyPipe: PipeTransform = {
  transform: () => {
    throw new BadRequestException('nothing is right');
  },
};

describe.each(Object.keys(PLATFORMS) as Platform[])('the console in an application on %s', (platform) => {
  let url: string;
  const ask = (path: string, init: RequestInit = {}) =>
    fetch(`${url}${path}`, { redirect: 'manual', ...init, headers: { ...BEARER, ...(init.headers as object) } });

  beforeAll(async () => {
    // The order of imports does not matter.
    const console = ConsoleModule.forRoot({ path: 'ops/crons', auth: { tokens: ADMIN.line } });
    const app = await appOf(platform, console, jobs('scheduler', 'worker'));
    app.setGlobalPrefix('v1');
    app.useGlobalGuards(refuseAll);
    app.useGlobalInterceptors(wrapAll);
    app.useGlobalPipes(pickyPipe);
    url = await listening(app);
  });
  afterAll(closeAll);

  it('answers below its path and the prefix, whatever pipes, guards and interceptors the application has', async () => {
    const me = await ask('/v1/ops/crons/api/me');
    expect([me.status, await me.json()]).toEqual([200, { name: 'anna', role: 'admin', signedIn: true }]);
    const statuses = [
      '/api/overview',
      '/queues/',
      '/queues/api/queues',
      '/queues/base.js',
      '/docs',
      '/openapi.json',
    ].map(async (path) => [path, (await ask(`/v1/ops/crons${path}`)).status]);
    expect((await Promise.all(statuses)).filter(([, status]) => status !== 200)).toEqual([]);
  });

  it('reads bodies and parameters, and refuses wrong ones in a sentence of its own', async () => {
    const headers = { 'content-type': 'application/json' };
    const order = { method: 'POST', headers, body: JSON.stringify({ reason: 'a try' }) };
    const paused = await ask('/v1/ops/crons/api/crons/none/pause', order);
    expect([paused.status, await paused.json()]).toEqual([404, expect.objectContaining({ code: 'CRON_UNKNOWN' })]);
    const wrong = await ask('/v1/ops/crons/api/crons?limit=0');
    expect([wrong.status, await wrong.json()]).toEqual([
      400,
      expect.objectContaining({ detail: 'limit: Expected a whole number from 1 to 500.' }),
    ]);
  });

  it('asks who comes, and leaves the other routes alone', async () => {
    expect((await fetch(`${url}/v1/ops/crons/api/crons`)).status).toBe(401);
    const [own, elsewhere] = [await fetch(`${url}/v1/own`), await fetch(`${url}/v1/ops/cronshow`)];
    expect([own.status, elsewhere.status]).toEqual([403, 403]);
    expect(own.headers.get('content-security-policy')).toBeNull();
    expect(own.headers.get('ratelimit')).toBeNull();
  });

  it('finds its own way: what the browser is sent has no path of the server in it', async () => {
    const redirect = await ask('/v1/ops/crons?search=x');
    expect([redirect.status, redirect.headers.get('location')]).toEqual([308, './crons/?search=x']);
    const page = await (await ask('/v1/ops/crons/cron/nightly')).text();
    expect(page).toContain('data-up="../"');
    expect(page.match(/(src|href)="[^"]*"/g)?.every((link) => link.includes('="../'))).toBe(true);
    const board = await (await ask('/v1/ops/crons/queues/queue/runs')).text();
    expect(board).toContain('<base href="../../queues/" /><script src="base.js"></script>');
  });

  it('sends events, and does not hold up the end', async () => {
    const events = await ask('/v1/ops/crons/api/events');
    const reader = events.body?.getReader();
    expect(new TextDecoder().decode((await reader?.read())?.value)).toContain('event: heartbeat');
    await closeAll();
    expect((await reader?.read())?.done).toBe(true);
  });
});

describe('a console without auth', () => {
  afterEach(closeAll);
  const open = () => ConsoleModule.forRoot({ path: '/crons', auth: 'none' });

  it('serves this machine', async () => {
    const url = await listening(await appOf('express', jobs('scheduler'), open()));
    expect(await (await fetch(`${url}/crons/api/me`)).json()).toMatchObject({ name: 'local', role: 'admin' });
    expect((await fetch(`${url}/crons/api/me`, { headers: { 'x-forwarded-for': '10.0.0.7' } })).status).toBe(403);
  });

  it.each(['express', 'fastify'] as const)('does not start on %s where others can reach it', async (platform) => {
    const app = await appOf(platform, jobs('scheduler'), open());
    await expect(app.listen(0, '0.0.0.0')).rejects.toThrow(/^ConsoleModule needs "auth" on the address 0\.0\.0\.0/);
  });
});

describe('what is meant', () => {
  afterEach(closeAll);

  it('is asked for in one sentence where it is not clear', async () => {
    const two = await appOf(
      'express',
      jobs('worker'),
      jobs('worker'),
      ConsoleModule.forRoot({ path: '/crons', auth: 'none' }),
    );
    await expect(two.init()).rejects.toThrow(
      /^ConsoleModule: the application has 2 JobsModules\. Pass the one to show/,
    );
  });

  it.each([
    [{ pth: '/crons' }, 'ConsoleModule has no option "pth"; did you mean "path"?'],
    [{ path: '/' }, 'ConsoleModule, option "path": expected a path such as "/crons"'],
    [{ path: '/crons', auth: { token: 'x' } }, 'ConsoleModule has no option "auth.token"; did you mean "tokens"?'],
    [{ path: '/crons', auth: { tokens: 'a:b' } }, 'Expected token 1 to be name:role:sha256'],
    [{ path: '/crons', auth: { tokens: '' } }, 'Expected an access token in the list of tokens, got none.'],
    [{ path: '/crons', board: 'no' }, 'ConsoleModule, option "board": expected true or false, got "no".'],
  ])('is said in one sentence: %o', (options, sentence) => {
    expect(() => ConsoleModule.forRoot(options as never)).toThrow(sentence);
  });

  it('may come from another provider', async () => {
    const console = ConsoleModule.forRootAsync({
      useFactory: async () => ({ path: '/c', auth: { tokens: ADMIN.line }, board: false }),
    });
    const url = await listening(await appOf('fastify', jobs('worker'), console));
    expect((await fetch(`${url}/c/api/me`, { headers: BEARER })).status).toBe(200);
    expect(await (await fetch(`${url}/c/`, { headers: BEARER })).text()).toContain('data-board="no"');
    const queues = await fetch(`${url}/c/queues/`, { headers: BEARER });
    expect({ status: queues.status, body: await queues.json() }).toMatchObject({
      status: 404,
      body: {
        detail: expect.stringMatching(
          /^Bull Board is not part .*"npm i @bull-board\/api @bull-board\/express" adds it/,
        ),
      },
    });
  });
});
