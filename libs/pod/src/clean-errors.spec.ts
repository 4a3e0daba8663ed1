import { BadRequestException, Controller, Get } from '@nestjs/common';
import type { INestApplication } from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { CleanErrors } from './clean-errors.js';

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

describe('an error that is answered', () => {
  it.each([
    ['/none?a=kAnary', { statusCode: 404, message: 'Cannot GET /none', error: 'Not Found' }],
    ['/refused', { statusCode: 400, message: 'no answer from redis://***@cache', error: 'Bad Request' }],
    ['/broken', { statusCode: 500, message: 'Internal server error' }],
  ])('quotes no secret: %s', async (path, answer) => {
    expect(await asked(path)).toEqual(answer);
  });
});
