import 'reflect-metadata';
import { readFileSync } from 'node:fs';
import { CronExpression } from '@nestjs/schedule';
import ts from 'typescript';
import { afterEach, describe, expect, it } from 'vitest';
import { expectRun, testJobs, type TestJobs } from '@fencepost/testing';
import { migrateSource } from '../../apps/cli/src/migrate-schedule/migrate-source.js';
import { Digests, welcome } from '../../examples/from-bullmq-repeatable/after.js';
import { DigestQueue } from '../../examples/from-bullmq-repeatable/before.js';
import { CleanUp } from '../../examples/from-kubernetes-cronjob/after.js';
import { main } from '../../examples/from-kubernetes-cronjob/before.js';
import { ReportsService } from '../../examples/from-nestjs-schedule/after.js';
import { InvoicesService } from '../../examples/from-set-nx/after.js';
import { InvoicesService as LockedInvoices } from '../../examples/from-set-nx/before.js';
import { Shop } from '../../examples/shop.js';

const read = (path: string) => readFileSync(new URL(`../../examples/${path}`, import.meta.url), 'utf8');
const words = (source: string) => source.replaceAll(/\s+/g, ' ').replaceAll(', }', ' }');

let kit: TestJobs | undefined;
afterEach(() => expect(kit?.clock.pending ?? 0).toBe(0));

describe('from @nestjs/schedule', () => {
  it('the command writes the program after the move, but for line breaks', () => {
    const expressions = new Map(Object.entries(CronExpression));
    const options = { ts, expressions, timeZone: 'UTC', names: new Set<string>() };
    const migrated = migrateSource('before.ts', read('from-nestjs-schedule/before.ts'), options);
    expect(words(migrated?.text ?? '')).toBe(words(read('from-nestjs-schedule/after.ts')));
    expect(migrated?.decide).toHaveLength(1);
  });

  it('the program runs at its instants', async () => {
    const reports = new ReportsService(new Shop());
    kit = await testJobs({ crons: [reports], startsAt: '2030-01-01T01:59:00Z' });
    await kit.advance('2m');
    expect(reports.shop.done.toSorted()).toEqual(['clean-up', 'mail report', 'poll']);
  });
});

describe('from a hand-written SET NX', () => {
  it('a pod that dies with the lock loses the day, and one of Fencepost is followed by another', async () => {
    const keys = new Set<string>();
    const redis = { set: async (key: string) => (keys.has(key) ? null : (keys.add(key), 'OK' as const)) };
    class DyingShop extends Shop {
      override mail(): Promise<void> {
        return Promise.reject(new Error('killed'));
      }
    }
    const [dying, other] = [new LockedInvoices(redis, new DyingShop()), new LockedInvoices(redis, new Shop())];
    await expect(dying.sendInvoices()).rejects.toThrow('killed');
    await other.sendInvoices();
    expect(other.shop.done).toEqual([]);

    const invoices = new InvoicesService(new Shop());
    kit = await testJobs({ crons: [invoices] });
    kit.crash.beforeFinish();
    const run = await kit.fire('send-invoices');
    await kit.drain();
    expectRun(await kit.run(run)).succeeded();
    expect(invoices.shop.done).toEqual(['mail alice', 'mail bob']);
  });
});

describe('from BullMQ repeatable jobs', () => {
  it('crons are declared where they were upserted, and jobs are enqueued with a key where they had an id', async () => {
    const upserted: string[] = [];
    const queue = { upsertJobScheduler: async (id: string) => void upserted.push(id), add: async () => {} };
    const before = new DigestQueue(queue as never, new Shop());
    await before.onApplicationBootstrap();
    await before.process({ name: 'welcome', data: { customer: 'alice' } });

    const digests = new Digests(new Shop());
    kit = await testJobs({ crons: [digests], startsAt: '2030-01-07T06:59:45Z' });
    expect(upserted).toEqual(['weekly-digest', 'poll']);
    await welcome(kit.jobs, 'alice');
    await welcome(kit.jobs, 'alice');
    await kit.advance('2m');
    expect(digests.shop.done.filter((what) => what !== 'poll').toSorted()).toEqual([
      'mail digest',
      ...before.shop.done,
    ]);
    expect(digests.shop.done.filter((what) => what === 'poll')).toHaveLength(4);
  });
});

describe('from a Kubernetes CronJob', () => {
  it('does what the container did, at the time that its manifest names', async () => {
    const shop = new Shop();
    expect(await main(shop)).toBe(0);
    const cleanUp = new CleanUp(new Shop());
    kit = await testJobs({ crons: [cleanUp] });
    const run = await kit.fire('clean-up');
    expectRun(run).succeeded();
    expect(cleanUp.shop.done).toEqual(shop.done);
    expect(run.id).toBe(`clean-up@${Date.parse('2030-01-01T01:15:00Z')}`);
    expect(read('from-kubernetes-cronjob/cronjob.yaml')).toContain("schedule: '15 2 * * *'");
  });
});
