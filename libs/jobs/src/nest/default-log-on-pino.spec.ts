import 'reflect-metadata';
import { Logger as NestLogger, Module, type INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Logger, LoggerModule, NativeLogger } from 'nestjs-pino';
import { parseFence } from '@fencepost/lease';
import { ManualClock } from '@fencepost/lease/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Telemetry } from '../telemetry/telemetry.js';
import { logByDefault } from './default-log.js';

const chunks: string[] = [];
const stream = { write: (chunk: string) => void chunks.push(chunk) };

@Module({ imports: [LoggerModule.forRoot({ pinoHttp: [{ level: 'info' }, stream] })] })
class AppModule {}

let app: INestApplicationContext;
let telemetry: Telemetry;
let clock: ManualClock;

beforeAll(async () => {
  app = await NestFactory.createApplicationContext(AppModule, { bufferLogs: true });
  app.useLogger(app.get(Logger));
});

afterAll(() => app.close());

beforeEach(() => {
  [telemetry, clock] = [new Telemetry(), new ManualClock()];
  logByDefault(telemetry, clock);
  chunks.splice(0);
});

class PaymentError extends Error {
  override name = 'PaymentError';
}

const run = { cron: 'nightly', runId: 'nightly@1', attempt: 2, fence: parseFence('7') };
const records = () => chunks.map((chunk) => JSON.parse(chunk) as Record<string, unknown>);

function failed(err: Error): void {
  telemetry.emit('attempt.failed', { ...run, err, state: 'failed', retryInMs: null, tookMs: 5 });
}

describe('the default log of an application with nestjs-pino', () => {
  it('is an object a line: the sentence as msg, everything else as fields', () => {
    failed(Object.assign(new PaymentError('refused 100% of "it"\n{"level":30}'), { code: 'E1' }));
    telemetry.emit('occurrence.skipped', { cron: 'nightly', scheduledAt: 1, reason: 'overlap' });
    expect(chunks.map((chunk) => chunk.split('\n').length)).toEqual([2, 2]);
    expect(records()).toMatchObject([
      {
        ...{ level: 50, context: 'Fencepost', msg: 'attempt failed', event: 'attempt_failed' },
        ...{ cron: 'nightly', runId: 'nightly@1', attempt: 2, fence: 7, state: 'failed', retryInMs: null, tookMs: 5 },
        err: {
          type: 'PaymentError',
          message: 'refused 100% of "it"\n{"level":30}',
          code: 'E1',
          stack: expect.stringMatching(/^PaymentError: refused 100%[^]*\n {4}at .*default-log-on-pino\.spec\.ts/),
        },
      },
      { level: 40, event: 'occurrence_skipped', cron: 'nightly', reason: 'overlap', scheduledAt: 1 },
    ]);
  });

  it('has the cause and the first errors of an error as pino has them', () => {
    const errors = ['a', 'b', 'c', 'd'].map((text) => new PaymentError(text));
    telemetry.emit('store.failed', {
      operation: 'catalog.read',
      err: new AggregateError(errors, 'all failed', { cause: new Error('no network') }),
    });
    const [{ err } = {}] = records();
    expect(err).toMatchObject({
      type: 'AggregateError',
      message: 'all failed: no network',
      errorCount: 4,
      aggregateErrors: [{ type: 'PaymentError', message: 'a' }, { message: 'b' }, { message: 'c' }],
    });
    expect(err).not.toHaveProperty('name');
  });

  it('tells as a field, too, how many lines were left out', async () => {
    for (let n = 0; n < 9; n += 1) failed(new Error('refused'));
    await clock.advance(10_000);
    expect(records().at(-1)).toMatchObject({ msg: 'attempt failed (3 more in the last 10 s)', omitted: 3 });
  });

  it('builds no line of a level that pino has off', () => {
    let built = 0;
    const detail = {
      get cron() {
        return `${(built += 1)}`;
      },
    };
    telemetry.emit('occurrence.claimed', detail as never);
    expect([built, chunks]).toEqual([0, []]);
  });

  it('writes as an object what was logged before the application set its logger', async () => {
    const early = await NestFactory.createApplicationContext(AppModule, { bufferLogs: true, autoFlushLogs: false });
    NestLogger.attachBuffer();
    telemetry.emit('lease.lost', { ...run, holder: 'pod-1/0d9f1f6e-3c55', cause: 'expired' });
    expect(records().filter(({ context }) => context === 'Fencepost')).toEqual([]);
    early.useLogger(early.get(Logger));
    early.flushLogs();
    expect(records()).toContainEqual(expect.objectContaining({ event: 'lease_lost', holder: 'pod-1/0d9f1f6e' }));
    await early.close();
  });
});

describe('the default log of an application with the NativeLogger of nestjs-pino', () => {
  it('has the fields where that one puts them', () => {
    app.useLogger(app.get(NativeLogger));
    failed(new PaymentError('refused'));
    const native = new NativeLogger(Reflect.get(app.get(NativeLogger), 'logger'), {
      nativeLogger: { structuredParams: false },
    });
    app.useLogger(native);
    failed(new PaymentError('refused'));
    const own = { event: 'attempt_failed', cron: 'nightly', err: { type: 'PaymentError', message: 'refused' } };
    expect(records()).toMatchObject([
      { level: 50, context: 'Fencepost', msg: 'attempt failed', params: own },
      { level: 50, context: 'Fencepost', msg: { message: 'attempt failed', ...own } },
    ]);
  });
});
