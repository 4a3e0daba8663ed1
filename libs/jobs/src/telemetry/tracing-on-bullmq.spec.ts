import { Injectable } from '@nestjs/common';
import type { INestApplicationContext } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { JobsModule } from '../nest/jobs.module.js';
import { SingletonCron } from '../nest/singleton-cron.decorator.js';
import { Telemetry } from './telemetry.js';
import { type Role } from '../nest/options.js';
import { type RunContext } from '../running/run-context.js';
import { OperationsModule, CronOperator } from '@fencepost/operations';
import { SpanStatusCode } from '@opentelemetry/api';
import { InMemorySpanExporter, type ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { afterEach, describe, expect, it } from 'vitest';
import { BullmqRunQueue } from '../queue/bullmq-run-queue.js';
import { openTelemetryTracing } from './open-telemetry.js';
import { recordSpans } from '../../../../test/pods/recorded-spans.js';
import { testRedis } from '../../../../test/support/redis.js';
import { WorkerStage } from '../../../../test/support/worker-stage.js';
import { redisSpaces } from '../../../../test/jobs/redis-space.js';
import { FORMER_QUEUE } from '../queue/routing.js';

const PATIENCE = { timeout: 15_000 };
const spaces = redisSpaces();
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

/** What an SDK is given of this process. */
function recorded(): InMemorySpanExporter {
  const exporter = new InMemorySpanExporter();
  closing.push(recordSpans(exporter));
  return exporter;
}

@Injectable()
class Work {
  static done: string[] = [];

  @SingletonCron('* * * * * *', { name: 'tick', overlap: 'allow' })
  async tick(run: RunContext): Promise<void> {
    await run.effect('write', () => Work.done.push(run.id));
  }

  @SingletonCron('* * * * * *', { name: 'tock', overlap: 'allow' })
  tock(): void {}

  @SingletonCron('0 2 29 2 *', { name: 'charge', retry: { attempts: 2, delay: '50ms' } })
  charge({ attempt }: RunContext): void {
    if (attempt === 1) throw new Error('declined at redis://user:secret@host');
  }
}

async function start(roles: readonly Role[], on: { prefix: string; tenant: string; tracing?: boolean }) {
  const jobs = JobsModule.forRoot({ roles, redis: testRedis(), ...on, drainDeadline: '2s' });
  const providers = roles.includes('worker') ? [Work] : [];
  const app: INestApplicationContext = await Test.createTestingModule({
    imports: [jobs, OperationsModule.on(jobs)],
    providers,
  }).compile();
  closing.push(() => app.close());
  await app.init();
  return app;
}

const attributesOf = ({ attributes }: ReadableSpan) => attributes;
const named = (spans: readonly ReadableSpan[], name: string) => spans.filter((span) => span.name === name);

/** From a span up to its root, as far as they are known. */
function ancestry(spans: readonly ReadableSpan[], from: ReadableSpan): ReadableSpan[] {
  const parent = spans.find((span) => span.spanContext().spanId === from.parentSpanContext?.spanId);
  return parent ? [from, ...ancestry(spans, parent)] : [from];
}

describe('with the option "tracing"', () => {
  it('a run is one trace: claim, enqueue, the queue, attempt, effect, each the child of the one before', async () => {
    const exporter = recorded();
    const space = { ...spaces.fresh(), tracing: true };
    await start(['scheduler'], space);
    await start(['worker'], space);
    await expect.poll(() => named(exporter.getFinishedSpans(), 'fencepost.effect').length, PATIENCE).toBeGreaterThan(1);
    const effect = named(exporter.getFinishedSpans(), 'fencepost.effect')[0]!;
    const runId = attributesOf(effect)['fencepost.run_id'];
    await expect.poll(() => ancestry(exporter.getFinishedSpans(), effect), PATIENCE).toHaveLength(5);
    const chain = ancestry(exporter.getFinishedSpans(), effect);
    expect(chain.map(({ name }) => name)).toEqual([
      'fencepost.effect',
      'fencepost.attempt',
      'process fencepost-workspace',
      'fencepost.enqueue',
      'fencepost.claim',
    ]);
    expect(chain.at(-1)?.parentSpanContext).toBeUndefined();
    expect(new Set(chain.map((span) => span.spanContext().traceId)).size).toBe(1);
    const run = { 'fencepost.cron': 'tick', 'fencepost.run_id': runId };
    const attempt = { 'fencepost.attempt': 1, 'fencepost.fence': expect.stringMatching(/^\d+$/) };
    expect(chain.map(attributesOf)).toMatchObject([
      { ...run, ...attempt, 'fencepost.effect': 'write', 'fencepost.outcome': 'done' },
      { ...run, ...attempt, 'fencepost.delivery': 1, 'fencepost.outcome': 'succeeded' },
      {},
      { ...run, 'fencepost.delivery': 1, 'fencepost.outcome': 'enqueued' },
      { ...run, 'fencepost.fence': expect.stringMatching(/^\d+$/), 'fencepost.outcome': 'claimed' },
    ]);
  });

  it('all attempts of a run are in its trace, with how each of them ended and no secret', async () => {
    const exporter = recorded();
    const worker = await start(['worker'], { ...spaces.fresh(), tracing: true });
    await worker.get(CronOperator).trigger('charge', { by: 'otto' });
    const attempts = () => named(exporter.getFinishedSpans(), 'fencepost.attempt');
    await expect.poll(() => attempts().length, PATIENCE).toBe(2);
    expect(attempts().map(attributesOf)).toMatchObject([
      { 'fencepost.attempt': 1, 'fencepost.outcome': 'retried' },
      { 'fencepost.attempt': 2, 'fencepost.outcome': 'succeeded' },
    ]);
    expect(attempts().map(({ status }) => status.code)).toEqual([SpanStatusCode.ERROR, SpanStatusCode.UNSET]);
    expect(new Set(attempts().map((span) => span.spanContext().traceId)).size).toBe(1);
    const told = exporter
      .getFinishedSpans()
      .map(({ name, attributes, status, events }) => ({ name, attributes, status, events }));
    expect(JSON.stringify(told)).not.toContain('secret');
  });

  it('the span of a stale attempt says that it was refused, and that another one goes on', async () => {
    const exporter = recorded();
    const stage = await WorkerStage.with();
    stage.tracing = await openTelemetryTracing(stage.telemetry);
    await stage.deliver(async () => {
      stage.manual.jumpWall(60_000);
      await stage.takenOver();
      stage.manual.jumpWall(-60_000);
    });
    const [{ attributes, status } = expect.fail('no span')] = exporter.getFinishedSpans();
    expect(attributes).toMatchObject({ 'fencepost.outcome': 'refused', 'fencepost.attempt': 1 });
    expect(status).toMatchObject({ code: SpanStatusCode.ERROR, message: expect.stringContaining('stale') });
  });

  it('a run that is handed over again goes on with the trace of its first delivery', async () => {
    const exporter = recorded();
    const tracing = await openTelemetryTracing(new Telemetry());
    const runs = new BullmqRunQueue({ redis: spaces.redis(), ...spaces.fresh(), onTrouble: () => {}, tracing });
    closing.push(() => runs.close());
    await runs.enqueue([{ runId: 'tick@1', delivery: 1 }]);
    await runs.enqueue([{ runId: 'tick@1', delivery: 2 }]);
    const [first, again] = exporter.getFinishedSpans();
    expect(again?.attributes).toMatchObject({ 'fencepost.run_id': 'tick@1', 'fencepost.delivery': 2 });
    expect(again?.parentSpanContext?.spanId).toBe(first?.spanContext().spanId);
    expect(again?.spanContext().traceId).toBe(first?.spanContext().traceId);
  });

  it('an application without an SDK works the same, and nothing goes along with its jobs', async () => {
    const space = spaces.fresh();
    const before = Work.done.length;
    await start(['scheduler', 'worker'], { ...space, tracing: true });
    await expect.poll(() => Work.done.length, PATIENCE).toBeGreaterThan(before);
    const runs = new BullmqRunQueue({ redis: spaces.redis(), ...space, onTrouble: () => {} });
    closing.push(() => runs.close());
    const job = await runs.queues.named(FORMER_QUEUE).getJob(Work.done.at(-1) ?? '');
    expect(job?.opts.telemetry).toBeUndefined();
  });
});

it('without the option there is no span, whatever the application records', async () => {
  const exporter = recorded();
  const before = Work.done.length;
  await start(['scheduler', 'worker'], spaces.fresh());
  await expect.poll(() => Work.done.length, PATIENCE).toBeGreaterThan(before);
  expect(exporter.getFinishedSpans()).toEqual([]);
});
