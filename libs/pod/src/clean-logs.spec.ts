import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import { pinoHttp, type HttpLogger } from 'pino-http';
import { afterEach, describe, expect, it } from 'vitest';
import { cleanLogs, CleanErrors } from './clean-logs.js';
import { BadRequestException, Controller, Get, type INestApplication } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { Test } from '@nestjs/testing';

describe('what a pod logs', () => {
  const SECRET = 'kAnary';

  const ends: (() => Promise<unknown>)[] = [];

  afterEach(() => Promise.all(ends.splice(0).map((end) => end())));

  /** A logger as a pod has it, and the lines it has written. */
  function logging() {
    const [lines, stream] = [[] as string[], new PassThrough()];
    stream.on('data', (line: Buffer) => lines.push(line.toString()));
    const http = pinoHttp({ ...cleanLogs(), level: 'trace', base: { role: 'worker' } }, stream);
    return { http, log: http.logger, lines };
  }

  /** Serves one request, during which something is logged. */
  async function request(http: HttpLogger): Promise<void> {
    const server = createServer((incoming, answer) => {
      http(incoming, answer);
      incoming.log.warn('in a request');
      answer.end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    ends.push(() => new Promise((resolve) => server.close(resolve)));
    const { port } = server.address() as AddressInfo;
    const headers = { authorization: `Bearer ${SECRET}`, 'x-own': SECRET, cookie: SECRET };
    await fetch(`http://127.0.0.1:${port}/crons?token=${SECRET}`, { headers });
  }

  it('has no secret, whoever logs it and however', () => {
    const { log, lines } = logging();
    const error = Object.assign(new Error(`redis://:${SECRET}@cache`), { command: { args: [SECRET] } });
    log.error(error);
    log.error({ err: error, deep: [{ password: SECRET }] }, `failed with token=${SECRET}`);
    log.info('connected to %s as %o', `postgres://app:${SECRET}@db/shop`, { apiKey: SECRET });
    log.child({ session: { token: SECRET } }).warn('a child of it');
    expect(lines).toHaveLength(4);
    expect(lines.join('')).not.toContain(SECRET);
    expect(lines[0]).toContain('redis://***@cache');
    expect(lines[2]).toContain('connected to postgres://***@db/shop as');
    expect(JSON.parse(lines[3] ?? '')).toMatchObject({ msg: 'a child of it', role: 'worker', level: 40 });
  });

  it('names the class of an error, its code and its causes', () => {
    const { log, lines } = logging();
    const cause = new RangeError('too far');
    log.error({ err: Object.assign(new TypeError('no number', { cause }), { code: 'NAN' }) }, 'failed');
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      msg: 'failed',
      err: {
        type: 'TypeError',
        code: 'NAN',
        message: 'no number: too far',
        stack: expect.stringContaining('RangeError'),
      },
    });
  });

  it('says of a request its method and its path', async () => {
    const { http, lines } = logging();
    await request(http);
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ msg: 'in a request', req: { method: 'GET', url: '/crons' } });
    expect(lines.join('')).not.toContain(SECRET);
  });
});

describe('an error that is answered', () => {
  @Controller()
  class Careless {
    @Get('refused')
    refused(): never {
      throw new BadRequestException('no answer from redis://:kAnary@cache');
    }

    @Get('broken')
    broken(): never {
      throw new Error('token=kAnary');
    }
  }

  const apps: INestApplication[] = [];

  afterEach(() => Promise.all(apps.splice(0).map((app) => app.close())));

  async function asked(path: string): Promise<unknown> {
    const providers = [{ provide: APP_FILTER, useClass: CleanErrors }];
    const app = (
      await Test.createTestingModule({ controllers: [Careless], providers }).compile()
    ).createNestApplication();
    app.useLogger(false);
    apps.push(app);
    await app.listen(0, '127.0.0.1');
    return (await fetch(`${await app.getUrl()}${path}`)).json();
  }

  it.each([
    ['/none?a=kAnary', { statusCode: 404, message: 'Cannot GET /none', error: 'Not Found' }],
    ['/refused', { statusCode: 400, message: 'no answer from redis://***@cache', error: 'Bad Request' }],
    ['/broken', { statusCode: 500, message: 'Internal server error' }],
  ])('quotes no secret: %s', async (path, answer) => {
    expect(await asked(path)).toEqual(answer);
  });
});
