import { randomUUID } from 'node:crypto';
import { parseFence, systemClock } from '@fencepost/lease';
import type { Redis } from 'ioredis';
import { audit } from '@fencepost/operations/audit';
import type { CatalogReading, Generation } from '@fencepost/ledger/catalog';
import { RedisCatalog, RedisLedger } from '@fencepost/ledger/redis';
import type { ClaimReply, ClaimRequest, Ledger } from '@fencepost/ledger';
import type { SkipReason } from '@fencepost/ledger/run';
import { RedisMembership } from '@fencepost/jobs/internal';
import { redisKeys } from '@fencepost/lease/internal/redis';
import { CRON, definitionOf, HOUR, SECOND } from '../support/audit-history.js';

export function claimOf(over: Partial<ClaimRequest> & { scheduledAt: number | null }): Omit<ClaimRequest, 'cursor'> {
  const { scheduledAt, ...others } = over;
  return {
    cron: CRON,
    fence: parseFence('1'),
    term: 'term',
    holder: 'pod/1',
    generation: 1,
    nonce: randomUUID(),
    skips: [],
    occurrence: scheduledAt === null ? null : { scheduledAt, dueAt: scheduledAt, reason: 'schedule', missed: null },
    overlap: 'allow',
    ...others,
  };
}

export async function claim(ledger: Ledger, request: Omit<ClaimRequest, 'cursor'>): Promise<ClaimReply> {
  return ledger.claim({ ...request, cursor: (await ledger.readCron(request.cron)).cursor });
}

interface Space {
  readonly prefix: string;
  readonly tenant: string;
}

/**
 * Stores in Redis with a cron that fires each second, which is told to be an hour older than it is: its instants are then
 * all in the past, and nothing has to be waited for.
 */
export class Stores {
  readonly real: RedisCatalog;
  readonly ledger: RedisLedger;
  readonly membership: RedisMembership;
  /** The key of a part of the cron. */
  readonly key: (part: string) => string;
  readonly catalog = { read: async () => older(await this.real.read()) };
  #born = 0;

  private constructor(
    readonly redis: Redis,
    space: Space,
  ) {
    this.real = new RedisCatalog({ redis, ...space });
    this.ledger = new RedisLedger({ redis, ...space });
    this.membership = new RedisMembership({ redis, ...space });
    this.key = (part) => redisKeys(space)(CRON, part);
  }

  static async of(redis: Redis, space: Space): Promise<Stores> {
    const stores = new Stores(redis, space);
    await stores.real.declare([{ definition: definitionOf(), disabled: false }], { revision: 1, app: 'test' });
    await stores.membership.heartbeat('pod/1');
    const [entry] = (await stores.catalog.read()).entries;
    stores.#born = Math.floor((entry?.since ?? 0) / SECOND) * SECOND;
    return stores;
  }

  /** The n-th second of its life. */
  at(second: number): number {
    return this.#born + second * SECOND;
  }

  idOf(second: number): string {
    return `${CRON}@${this.at(second)}`;
  }

  async claim(second: number, over: Partial<ClaimRequest> = {}): Promise<string> {
    return (await claim(this.ledger, claimOf({ scheduledAt: this.at(second), ...over }))).verdict;
  }

  async skip(after: number, through: number, reason: SkipReason = 'misfire'): Promise<string> {
    const skips = [{ after: this.at(after), through: this.at(through), reason }];
    return (await claim(this.ledger, claimOf({ scheduledAt: null, skips }))).verdict;
  }

  async audit(to: number) {
    const { catalog, ledger, membership } = this;
    return audit({ catalog, ledger, membership, clock: systemClock }, { to: this.at(to) });
  }

  async takeAway(runId: string): Promise<void> {
    await this.redis.zrem(this.key('runs'), runId);
    await this.redis.del(this.key(`run:${runId}`));
  }
}

/** Each generation is also told to have lasted 20 seconds longer. */
function older({ entries, ...reading }: CatalogReading): CatalogReading {
  const back = <T extends Generation>(generation: T, index: number): T => {
    return { ...generation, since: generation.since - HOUR + index * 20 * SECOND };
  };
  const all = entries.map((entry) => ({ ...back(entry, entry.past.length), past: entry.past.map(back) }));
  return { ...reading, entries: all };
}
