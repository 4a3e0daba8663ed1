import { Inject, Injectable, Module } from '@nestjs/common';
import type { Leases } from '@fencepost/lease';
import { SingleFlight } from '@fencepost/lease/coordination';
import { InjectLeases, LEASE_REDIS, LeaseModule } from '@fencepost/lease/nest';
import type { RedisClient } from '@fencepost/lease/redis';
import { RedisFencedValues } from '@fencepost/lease/sinks';

const { REDIS_URL: redis = 'redis://localhost:6379', PREFIX: prefix = 'prices' } = process.env;

export type PriceList = Readonly<Record<string, number>>;

/** A query that takes seconds, and that the database can't serve to all callers at once. */
@Injectable()
export class Catalog {
  async load(_country: string): Promise<PriceList> {
    return { lamp: 4_900 };
  }
}

@Injectable()
export class Prices {
  readonly #flights: SingleFlight;

  constructor(
    @InjectLeases() leases: Leases,
    @Inject(LEASE_REDIS) client: RedisClient,
    private readonly catalog: Catalog,
  ) {
    // Written under the fence of its builder: one that was paused and ends late overwrites nothing newer.
    const cache = new RedisFencedValues({ redis: client, prefix, tenant: 'default', collection: 'prices' });
    this.#flights = new SingleFlight({ leases, cache });
  }

  /** For a minute from the cache; for ten more the old list, while one caller of all replicas loads the new one. */
  of(country: string): Promise<PriceList> {
    const key = { type: 'prices', id: country };
    return this.#flights.get(key, { fresh: '1m', stale: '10m' }, () => this.catalog.load(country));
  }
}

@Module({ imports: [LeaseModule.forRoot({ redis, prefix })], providers: [Catalog, Prices] })
export class AppModule {}
