import 'reflect-metadata';
import { Injectable, Module } from '@nestjs/common';
import { Cron } from '@nestjs/schedule';
import { Test } from '@nestjs/testing';
import type { TestingModule } from '@nestjs/testing';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Leases, currentLease } from '@fencepost/lease';
import { RedisLeaseStore, closeRedis } from '@fencepost/lease/redis';
import { InjectLeases, LeaseModule, WithLease } from '@fencepost/lease/nest';
import { clearPrefixes, freshPrefix, testRedis } from '../support/redis.js';

@Injectable()
class Reports {
  readonly fences: number[] = [];

  constructor(@InjectLeases() readonly leases: Leases) {}

  @Cron('0 3 * * *')
  @WithLease('nightly-report', { busy: 'skip', ttl: '5s' })
  async nightly(): Promise<string> {
    this.fences.push(currentLease()?.fence ?? 0);
    return 'sent';
  }

  @WithLease((order: { readonly id: number }) => ({ type: 'order', id: order.id }), { wait: '200ms' })
  async ship(order: { readonly id: number }): Promise<string> {
    return `${order.id} under ${currentLease()?.resource}`;
  }
}

const prefix = freshPrefix();
let app: TestingModule;
let reports: Reports;
let redis: Redis;
let others: Leases;

beforeAll(() => {
  redis = new Redis(testRedis());
  others = new Leases({ store: new RedisLeaseStore({ redis, prefix, tenant: 'default' }) });
});
afterAll(async () => {
  await others.close();
  await clearPrefixes(redis, [prefix]);
  await closeRedis(redis);
});
beforeEach(async () => {
  @Module({ imports: [LeaseModule.forRoot({ redis: testRedis(), prefix })], providers: [Reports] })
  class App {}
  app = await Test.createTestingModule({ imports: [App] }).compile();
  reports = app.get(Reports);
});
afterEach(() => app.close());

describe('@WithLease', () => {
  it('runs the method under the lease, which the method can see, and releases it', async () => {
    expect(await reports.nightly()).toBe('sent');
    expect(reports.fences).toEqual([expect.toSatisfy((fence: number) => fence > 0)]);
    expect(await others.inspect('nightly-report')).toBeNull();
  });

  it('skips the call where it is told to while another replica has the lease', async () => {
    const theirs = await others.acquire('nightly-report');
    expect(await reports.nightly()).toBeUndefined();
    expect(reports.fences).toEqual([]);
    await theirs.release();
  });

  it('takes the resource from the arguments, and waits in vain for no longer than it is told to', async () => {
    expect(await reports.ship({ id: 7 })).toBe('7 under order:7');
    const theirs = await others.acquire({ type: 'order', id: 8 });
    await expect(reports.ship({ id: 8 })).rejects.toMatchObject({ code: 'LEASE_BUSY', resource: 'order:8' });
    await theirs.release();
  });

  it('says what is missing on an instance that Nest has not made', async () => {
    await expect(new Reports(others).nightly()).rejects.toThrow('Import LeaseModule there');
  });

  it('refuses a name that can be no resource where it is declared', () => {
    expect(() => WithLease('two words')).toThrow('" " may not be in it');
  });
});

describe('@InjectLeases', () => {
  it('injects the leases of the module, which share its keeper', async () => {
    const lease = await reports.leases.acquire('r');
    expect(await app.get(Leases).inspect('r')).toMatchObject({ holder: lease.holder });
  });
});
