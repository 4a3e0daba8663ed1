import 'reflect-metadata';
import type { INestApplicationContext } from '@nestjs/common';
import { Jobs, LEDGER, Telemetry } from '@fencepost/jobs';
import type { Ledger } from '@fencepost/ledger';
import { testJobs } from '@fencepost/testing';
import { describe, expect, it } from 'vitest';
import { gate, useExampleStores, useReplicas } from './replicas.js';

const stores = useExampleStores(`
  CREATE TABLE seats (id bigint, status text, version int, guest text);
  CREATE TABLE carts (id bigint, status text, version int, touched_at timestamptz);
  CREATE TABLE audit (cart bigint, run text)`);
const start = useReplicas();
const WAIT = { timeout: 20_000 };

const jobsOf = (app: INestApplicationContext) => app.get(Jobs, { strict: false });

async function untilSucceeded(app: INestApplicationContext, runIds: readonly string[]): Promise<void> {
  const ledger = app.get<Ledger>(LEDGER, { strict: false });
  const states = async () => (await Promise.all(runIds.map((id) => ledger.readRun(id)))).map((run) => run?.state);
  await expect.poll(states, WAIT).toEqual(runIds.map(() => 'succeeded'));
}

describe('the example of a compensation', () => {
  it('refunds the booking that is refused, once, although the reply of the refund gets lost', async () => {
    const { AppModule, Payments } = await import('../../examples/compensate-refused.js');
    await stores.database.query("INSERT INTO seats VALUES (1, 'FREE', 7)");
    const charged = new Map<string, string>();
    const refunded: string[] = [];
    const payments = {
      charge: async (guest: string, _cents: number, key: string) => {
        charged.set(key, guest);
        return guest;
      },
      refund: async (guest: string, key: string) => {
        refunded.push(`${guest} by ${key}`);
        if (refunded.length === 1) throw Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
      },
    };
    const replicas = [await start(AppModule, [Payments, payments]), await start(AppModule, [Payments, payments])];
    const guests = ['anna', 'ben'];
    const booking = { seat: 1, version: 7, cents: 9_900 };
    const asked = guests.map((guest, n) => jobsOf(replicas[n]!).enqueue('book-seat', { ...booking, guest }));
    const runIds = (await Promise.all(asked)).map(({ runId }) => runId);
    await untilSucceeded(replicas[0]!, runIds);

    const { rows } = await stores.database.query('SELECT status, version, guest FROM seats');
    const loser = guests.findIndex((guest) => guest !== rows[0].guest);
    expect(rows).toEqual([{ status: 'BOOKED', version: 8, guest: guests[1 - loser] }]);
    expect([...charged.values()].toSorted()).toEqual(guests);
    const refund = `${guests[loser]} by ${runIds[loser]}/refund`;
    expect(refunded).toEqual([refund, refund]);
  });
});

describe('the example of a clean-up', () => {
  it('expires each old cart once, with one row of audit, although its worker dies, and none that was touched', async () => {
    const { CartCleanup } = await import('../../examples/cleanup-cron.js');
    const old = `'OPEN', 1, '2029-12-01Z'`;
    await stores.database.query(
      `INSERT INTO carts VALUES (1, ${old}), (2, ${old}), (3, ${old}), (4, 'OPEN', 1, '2030-01-01Z')`,
    );
    class Meanwhile extends CartCleanup {
      override async expireOne(cart: { readonly id: string; readonly version: number }, run: string): Promise<void> {
        const touched =
          "UPDATE carts SET version = version + 1, touched_at = '2030-01-01Z' WHERE id = 2 AND version = 1";
        if (cart.id === '2') await stores.database.query(touched);
        await super.expireOne(cart, run);
        if (cart.id === '3') planned ??= jobs.crash.before('advanceItems');
      }
    }
    let planned: { readonly reached: boolean } | undefined;
    const jobs = await testJobs({ crons: [new Meanwhile(stores.database)], patienceMs: 5_000 });
    const { id } = await jobs.fire('expire-carts');
    await jobs.advance('5m');
    expect(planned?.reached).toBe(true);
    expect((await jobs.run(id)).state).toBe('succeeded');
    const { rows } = await stores.database.query('SELECT status FROM carts ORDER BY id');
    expect(rows.map(({ status }) => status)).toEqual(['EXPIRED', 'OPEN', 'EXPIRED', 'OPEN']);
    const audit = await stores.database.query('SELECT cart, run FROM audit ORDER BY cart');
    expect(audit.rows).toEqual(['1', '3'].map((cart) => ({ cart, run: id })));
  });
});

describe('the example of jobs of a customer', () => {
  it('carries out one at a time, while those of another customer go on', async () => {
    const { AppModule, Crm } = await import('../../examples/serial-per-customer.js');
    const going = new Map<string, number>();
    const most = new Map<string, number>();
    const otherBegan = gate();
    const crm = {
      update: async (customer: string) => {
        going.set(customer, (going.get(customer) ?? 0) + 1);
        most.set(customer, Math.max(most.get(customer) ?? 0, going.get(customer)!));
        if (customer === 'ben') otherBegan.open();
        await otherBegan.opened;
        going.set(customer, going.get(customer)! - 1);
      },
    };
    const replicas = [await start(AppModule, [Crm, crm]), await start(AppModule, [Crm, crm])];
    const runIds: string[] = [];
    for (const [n, customer] of ['anna', 'anna', 'anna', 'ben'].entries()) {
      const { runId } = await jobsOf(replicas[n % 2]!).enqueue('sync-customer', { customer, change: `${n}` });
      runIds.push(runId);
    }
    await untilSucceeded(replicas[0]!, runIds);
    expect(Object.fromEntries(most)).toEqual({ anna: 1, ben: 1 });
  });
});

describe('the example of a provider with limits', () => {
  it('begins five in a second on all replicas, and sends two at once', async () => {
    const { AppModule, Provider } = await import('../../examples/rate-limited-provider.js');
    let going = 0;
    let most = 0;
    const opened = gate();
    const provider = {
      send: async () => {
        going += 1;
        most = Math.max(most, going);
        await opened.opened;
        going -= 1;
      },
    };
    const replicas = [await start(AppModule, [Provider, provider]), await start(AppModule, [Provider, provider])];
    const begun: number[] = [];
    for (const app of replicas) {
      const note = () => void begun.push(performance.now());
      app.get(Telemetry, { strict: false }).listen(note, new Set(['attempt.begun']));
    }
    const asked = Array.from({ length: 8 }, () => jobsOf(replicas[0]!).enqueue('send-sms', { to: '+49', text: 'Hi' }));
    const runIds = (await Promise.all(asked)).map(({ runId }) => runId);
    await expect.poll(() => begun.length, WAIT).toBe(8);
    expect(begun[5]! - begun[0]!).toBeGreaterThan(700);
    expect(going).toBe(2);
    opened.open();
    await untilSucceeded(replicas[0]!, runIds);
    expect(most).toBe(2);
  });
});
