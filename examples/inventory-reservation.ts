import { Injectable, Module, type OnApplicationShutdown } from '@nestjs/common';
import type { Leases } from '@fencepost/lease';
import { InjectLeases, LeaseModule } from '@fencepost/lease/nest';
import { sql } from '@fencepost/lease/postgres';
import { fencedSql } from '@fencepost/lease/sinks';
import { Pool } from 'pg';

const { REDIS_URL: redis = 'redis://localhost:6379', PREFIX: prefix = 'stock' } = process.env;
const { DATABASE_URL: connectionString = 'postgres://localhost:5432/stock' } = process.env;

/** Another company's: it counts what it is asked to set aside, and takes its time. */
@Injectable()
export class Warehouse {
  async setAside(_sku: string, _order: string): Promise<void> {}
}

@Injectable()
export class Inventory implements OnApplicationShutdown {
  constructor(
    @InjectLeases() private readonly leases: Leases,
    private readonly pool: Pool,
    private readonly warehouse: Warehouse,
  ) {}

  /**
   * @returns whether there was an item left for the order
   * @throws {StaleFenceError} when another replica has written the row meanwhile: nothing was changed, so try again
   */
  async reserve(sku: string, order: string): Promise<boolean> {
    return this.leases.using({ type: 'stock', id: sku }, { wait: '10s' }, async (lease) => {
      const { rows } = await this.pool.query<{ free: number }>(sql`SELECT free FROM stock WHERE sku = ${sku}`);
      const free = rows[0]?.free ?? 0;
      if (free === 0) return false;
      await this.warehouse.setAside(sku, order);
      // A replica that was paused since it read `free` may have lost its lease: the row refuses its fence.
      const f = fencedSql(lease, { downstream: 'stock' });
      const changes = sql`free = ${free - 1}, last_order = ${order}, ${f.set}`;
      f.check(await this.pool.query(sql`UPDATE stock SET ${changes} WHERE sku = ${sku} AND ${f.condition}`));
      return true;
    });
  }

  async onApplicationShutdown(): Promise<void> {
    await this.pool.end();
  }
}

/** `stock (sku text PRIMARY KEY, free int, last_order text, fence bigint)` */
@Module({
  imports: [LeaseModule.forRoot({ redis, prefix, criticality: 'efficiency' })],
  providers: [{ provide: Pool, useFactory: () => new Pool({ connectionString }) }, Warehouse, Inventory],
})
export class AppModule {}
