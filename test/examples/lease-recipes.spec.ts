import 'reflect-metadata';
import { StaleFenceError, type LeaseStore } from '@fencepost/lease';
import { LEASE_STORE } from '@fencepost/lease/nest';
import type { RedisLeaseStore } from '@fencepost/lease/redis';
import { describe, expect, it, vi } from 'vitest';
import { rejectionOf } from '../support/refusals.js';
import { gate, useExampleStores, useReplicas } from './replicas.js';

const stores = useExampleStores('CREATE TABLE stock (sku text PRIMARY KEY, free int, last_order text, fence bigint)');
const start = useReplicas();

describe('the example of an inventory', () => {
  const shop = () => import('../../examples/inventory-reservation.js');
  const stock = async (sku: string) =>
    (await stores.database.query('SELECT free, last_order FROM stock WHERE sku = $1', [sku])).rows[0];

  it('reserves the last item for one of two replicas, and asks the warehouse once', async () => {
    const { AppModule, Inventory, Warehouse } = await shop();
    await stores.database.query("INSERT INTO stock VALUES ('lamp', 1)");
    const asked: string[] = [];
    const bothAsked = gate();
    const setAside = async (_sku: string, order: string) => {
      asked.push(order);
      await bothAsked.opened;
      // Time enough for a replica that is let in as well to read the same number.
      for (let n = 0; n < 10; n += 1) await stores.database.query('SELECT 1');
    };
    const replicas = [
      await start(AppModule, [Warehouse, { setAside }]),
      await start(AppModule, [Warehouse, { setAside }]),
    ];
    const replies = replicas.map((app) => vi.spyOn(app.get<LeaseStore>(LEASE_STORE, { strict: false }), 'acquire'));
    const reserving = replicas.map((app, n) => app.get(Inventory).reserve('lamp', `order-${n}`));
    const answered = () => replies.every(({ mock }) => mock.settledResults.some(({ type }) => type === 'fulfilled'));
    await expect.poll(answered, { interval: 1 }).toBe(true);
    bothAsked.open();
    expect((await Promise.all(reserving)).filter(Boolean)).toEqual([true]);
    expect(await stock('lamp')).toEqual({ free: 0, last_order: asked[0] });
    expect(asked).toHaveLength(1);
  });

  it('refuses the replica that was paused while another one reserved, and counts nothing twice', async () => {
    const { AppModule, Inventory, Warehouse } = await shop();
    await stores.database.query("INSERT INTO stock VALUES ('vase', 5)");
    const [begun, goesOn] = [gate(), gate()];
    const slow = { setAside: () => (begun.open(), goesOn.opened) };
    const [paused, other] = [await start(AppModule, [Warehouse, slow]), await start(AppModule)];
    const late = rejectionOf(paused.get(Inventory).reserve('vase', 'late'));
    await begun.opened;
    const store = other.get<RedisLeaseStore>(LEASE_STORE, { strict: false });
    const [holding] = await store.inspect(['stock:vase']);
    await store.evict('stock:vase', holding!.fence);
    expect(await other.get(Inventory).reserve('vase', 'quick')).toBe(true);
    goesOn.open();
    expect(await late).toBeInstanceOf(StaleFenceError);
    expect(await stock('vase')).toEqual({ free: 4, last_order: 'quick' });
  });
});

describe('the example of shards', () => {
  it('has one leader for each, whose successor goes on where it ended, and takes nothing from it any more', async () => {
    const { AppModule, ShardReader } = await import('../../examples/shard-leader.js');
    const first = await start(AppModule);
    const { leads, checkpoints: before } = first.get(ShardReader);
    const left = vi.spyOn(before, 'set');
    const { leads: successor, checkpoints } = (await start(AppModule)).get(ShardReader);
    const written = vi.spyOn(checkpoints, 'set');
    const position = async () => Number((await checkpoints.get('eu'))?.value ?? 0);
    await expect.poll(() => leads.size, { timeout: 10_000 }).toBe(2);
    await expect.poll(position, { timeout: 10_000 }).toBeGreaterThan(3);
    expect(successor.size).toBe(0);

    const { fence } = leads.get('eu')!;
    await first.close();
    const reached = Number(left.mock.calls.findLast(([shard]) => shard === 'eu')?.[1]);
    await expect.poll(() => successor.size, { timeout: 10_000 }).toBe(2);
    await expect.poll(position, { timeout: 10_000 }).toBeGreaterThan(reached);
    expect(written.mock.calls.find(([shard]) => shard === 'eu')?.[1]).toBe(`${reached + 1}`);
    expect(successor.get('eu')!.fence).toBeGreaterThan(fence);
    await expect(checkpoints.set('eu', '0', { fence })).rejects.toThrow(StaleFenceError);
  });
});

describe('the example of a cache', () => {
  it('loads once for forty callers on two replicas', async () => {
    const { AppModule, Catalog, Prices } = await import('../../examples/cache-rebuild.js');
    let loads = 0;
    const catalog = { load: async () => ({ lamp: (loads += 1) }) };
    const replicas = [await start(AppModule, [Catalog, catalog]), await start(AppModule, [Catalog, catalog])];
    const callers = Array.from({ length: 40 }, (_, n) => replicas[n % 2]!.get(Prices).of('de'));
    expect(new Set((await Promise.all(callers)).map(({ lamp }) => lamp))).toEqual(new Set([1]));
    expect(loads).toBe(1);
  });
});
