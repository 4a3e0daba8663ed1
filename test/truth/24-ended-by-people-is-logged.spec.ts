import { Module, type LoggerService } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { JobsModule, SingletonCron, type JobsModuleOptions, type RunContext } from '@fencepost/jobs';
import { CronOperator, OperationsModule, RunOperator } from '@fencepost/operations';
import type { Run } from '@fencepost/ledger/run';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { fencepost } from '../support/fencepost.js';
import { freshSchema, postgresForTests, type TestPostgres } from '../support/postgres.js';
import { testRedis } from '../support/redis.js';
import { redisSpaces } from '../jobs/redis-space.js';

const spaces = redisSpaces();
const WITHIN = { timeout: 30_000 };
const order = { by: 'ada', reason: 'the customer left' };
const WHO = 'by ada, reason the customer left';

class Charges {
  @SingletonCron('0 0 1 1 *', { name: 'charge', criticality: 'efficiency', overlap: 'allow' })
  async charge(run: RunContext): Promise<void> {
    await run.effect('card', () => new Promise<void>(() => {}), { timeout: '20ms', ifUnknown: 'ask' });
  }
}

let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await postgresForTests();
}, 60_000);
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** Two scheduler pods, the second of which is a worker too, and all that Nest's logger gets from both. */
async function stage(ledger: 'redis' | 'postgres') {
  const [space, schema] = [spaces.fresh(), freshSchema()];
  const lines: string[] = [];
  const hear = (level: string) => (line: unknown, context?: unknown) =>
    void (context === 'Fencepost' && lines.push(`${level} ${String(line).split('\n')[0]}`));
  const logger: LoggerService = {
    log: hear('LOG'),
    error: (line, _stack, context) => hear('ERROR')(line, context),
    warn: hear('WARN'),
  };
  const options: JobsModuleOptions = {
    ...{ redis: testRedis(), ...space, app: 'test', sweepEvery: '100ms', ledger },
    ...(ledger === 'redis' ? {} : { postgres: { url: postgres.url, schema, migrate: true } }),
  };
  const pods = [];
  for (const roles of [['scheduler'], ['scheduler', 'worker']] as const) {
    const jobs = JobsModule.forRoot({ ...options, roles });
    @Module({ imports: [jobs, OperationsModule.on(jobs)], providers: roles.length > 1 ? [Charges] : [] })
    class Pod {}
    const pod = await (
      await Test.createTestingModule({ imports: [Pod] })
        .setLogger(logger)
        .compile()
    ).init();
    closing.unshift(() => pod.close());
    pods.push(pod);
  }
  const at = ledger === 'redis' ? [] : ['--postgres', postgres.url, '--schema', schema];
  const flags = ['--redis', testRedis(), '--prefix', space.prefix, '--tenant', space.tenant, ...at];
  const cli = async (...args: string[]) => {
    const said = await fencepost([...args, ...flags, '--by', order.by, '--reason', order.reason]);
    expect(said).toMatchObject({ code: 0, err: '' });
  };
  const told = () => lines.filter((line) => /run_given_up|run_cancelled/.test(line));
  return { pods, cli, told };
}

describe.each(['redis', 'postgres'] as const)('with the ledger in %s', (ledger) => {
  it('a run that a person ends is logged once, whether a pod or the command line was asked', WITHIN, async () => {
    const { pods, cli, told } = await stage(ledger);
    const runs = pods[0]?.get(RunOperator) as RunOperator;
    const uncertain = async () => {
      await pods[0]?.get(CronOperator).trigger('charge', order);
      await expect.poll(() => runs.uncertain(), WITHIN).toHaveLength(1);
      const [{ id, attempt, unresolvedEffect }] = (await runs.uncertain()) as [Run];
      return { id, attempt, since: unresolvedEffect?.since ?? 0 };
    };
    const one = await uncertain();
    const question = { attempt: one.attempt, effect: 'card', item: null, since: one.since };
    await runs.resolve(one.id, { ...order, ...question, answer: 'give-up' });
    const two = await uncertain();
    const asked = ['--attempt', `${two.attempt}`, '--effect', 'card', '--since', new Date(two.since).toISOString()];
    await cli('resolve', two.id, ...asked, '--answer', 'give-up');
    const three = await uncertain();
    await cli('cancel', three.id);
    await expect.poll(told, WITHIN).toHaveLength(3);
    // A pod that stops has ended its last look.
    for (const close of closing.splice(0)) await close();
    const about = ({ id }: { readonly id: string }) => `cron charge, runId ${id}, scheduledAt N, attempt 1`;
    expect(told().map((line) => line.replace(/scheduledAt \d+/, 'scheduledAt N'))).toEqual([
      `ERROR run failed: an operator gave it up (run_given_up, ${about(one)}, ${WHO})`,
      `ERROR run failed: an operator gave it up (run_given_up, ${about(two)}, ${WHO})`,
      `LOG run cancelled by an operator (run_cancelled, ${about(three)}, ${WHO}, verdict cancelled)`,
    ]);
  });
});
