import { setTimeout as pause } from 'node:timers/promises';
import {
  Inject,
  Injectable,
  Module,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import type { Leases } from '@fencepost/lease';
import { Election, type Leadership } from '@fencepost/lease/coordination';
import { InjectLeases, LEASE_REDIS, LeaseModule } from '@fencepost/lease/nest';
import type { RedisClient } from '@fencepost/lease/redis';
import { RedisFencedValues } from '@fencepost/lease/sinks';

const { REDIS_URL: redis = 'redis://localhost:6379', PREFIX: prefix = 'shards' } = process.env;
const SHARDS = ['eu', 'us'];

/** Each shard is read by one replica at a time, from where the one before it came to. */
@Injectable()
export class ShardReader implements OnApplicationBootstrap, BeforeApplicationShutdown {
  readonly leads = new Map<string, Leadership>();
  readonly checkpoints: RedisFencedValues;
  readonly #election: Election;
  readonly #end = new AbortController();
  #reading: Promise<unknown>[] = [];

  constructor(@InjectLeases() leases: Leases, @Inject(LEASE_REDIS) client: RedisClient) {
    this.#election = new Election({ leases });
    this.checkpoints = new RedisFencedValues({ redis: client, prefix, tenant: 'default', collection: 'checkpoints' });
  }

  onApplicationBootstrap(): void {
    const { signal } = this.#end;
    const lead = (shard: string) =>
      this.#election.lead(shard, { signal }, (leadership) => this.read(shard, leadership));
    this.#reading = SHARDS.map(lead);
  }

  async read(shard: string, leadership: Leadership): Promise<void> {
    const { fence, signal } = leadership;
    this.leads.set(shard, leadership);
    let position = Number((await this.checkpoints.get(shard))?.value ?? 0);
    while (!signal.aborted) {
      position += 1; // read the next entry of the shard here
      // Refused with StaleFenceError where a newer leader has written: `lead` campaigns anew then.
      await this.checkpoints.set(shard, `${position}`, { fence });
      await pause(10, undefined, { signal }).catch(() => {});
    }
    this.leads.delete(shard);
  }

  /** Hands over within milliseconds, instead of letting the next leader wait for the ttl. */
  async beforeApplicationShutdown(): Promise<void> {
    this.#end.abort();
    await Promise.allSettled(this.#reading);
  }
}

@Module({ imports: [LeaseModule.forRoot({ redis, prefix, ttl: '3s' })], providers: [ShardReader] })
export class AppModule {}
