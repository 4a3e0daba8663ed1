import 'reflect-metadata';
import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import { Injectable } from '@nestjs/common';
import { JobHandler, SingletonCron, type RunContext } from '@fencepost/jobs';
import { expectRun, testJobs, tortureJob } from '@fencepost/testing';

/** What the job talks to; in these tests a list. */
class Payments {
  readonly charged: string[] = [];

  async charge(key: string): Promise<{ readonly receipt: string }> {
    this.charged.push(key);
    return { receipt: `receipt ${this.charged.length}` };
  }
}

@Injectable()
export class Invoices {
  constructor(private readonly payments: Payments) {}

  @SingletonCron('0 3 * * *', { name: 'nightly-report', timeZone: 'Europe/Berlin' })
  async report(run: RunContext): Promise<void> {
    await run.effect('render', () => `Report of ${run.scheduledAt.toISOString()}`);
  }

  @JobHandler('charge', { criticality: 'correctness' })
  async charge(run: RunContext): Promise<void> {
    const { receipt } = await run.effect('charge', ({ idempotencyKey }) => this.payments.charge(idempotencyKey));
    run.log.info(receipt);
  }
}

/** Made anew for each run of a torture. */
const invoices = () => [new Invoices(new Payments())];

/** Each is one test: no server, no Nest, and no time passes but the one that the test lets pass. */
export const TESTS: Readonly<Record<string, () => Promise<void>>> = {
  'the report is rendered at three in Berlin': async () => {
    const jobs = await testJobs({ crons: [new Invoices(new Payments())], startsAt: '2030-06-01T12:00Z' });
    const run = await jobs.fire('nightly-report');
    expectRun(run).succeeded();
    strictEqual(run.effect('render')?.result, 'Report of 2030-06-02T01:00:00.000Z');
  },

  'a week has seven reports': async () => {
    const jobs = await testJobs({ crons: [new Invoices(new Payments())] });
    await jobs.advance('7d');
    strictEqual((await jobs.runs('nightly-report')).length, 7);
  },

  'an order is charged once, however often it is asked for': async () => {
    const payments = new Payments();
    const jobs = await testJobs({ crons: [new Invoices(payments)] });
    const first = await jobs.enqueue('charge', { order: 42 }, { idempotencyKey: 'order-42' });
    const again = await jobs.enqueue('charge', { order: 42 }, { idempotencyKey: 'order-42' });
    expectRun(first).succeeded();
    strictEqual(again.id, first.id);
    deepStrictEqual(payments.charged, [`${first.id}/charge`]);
  },

  'a worker that dies between charging and writing that down leaves a question, and no second charge': async () => {
    const payments = new Payments();
    const jobs = await testJobs({ crons: [new Invoices(payments)] });
    jobs.crash.afterEffect('charge');
    const run = await jobs.enqueue('charge', { order: 42 });
    strictEqual(run.state, 'running');
    await jobs.advance('2m');
    expectRun(await jobs.run(run)).asks('charge');
    expectRun(await jobs.resolve(run, 'done', { receipt: 'receipt 1' })).succeeded();
    strictEqual(payments.charged.length, 1);
  },

  'no mishap makes a charge happen twice': async () => {
    const report = await tortureJob({ crons: invoices, job: 'charge', lasts: '1m', rounds: 5 });
    strictEqual(report.ok, true);
  },
};
