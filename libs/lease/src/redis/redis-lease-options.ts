import type { KeySpace, LeaseKind } from '../store/keys.js';
import type { RedisClient } from './redis-script.js';

export interface RedisLeaseStoreOptions extends KeySpace {
  /** Default: the caller's own. */
  readonly kind?: LeaseKind;
  /** The caller closes it. */
  readonly redis: RedisClient;
  /** A lease counts when so many replicas have it; `redis` is a connection of its own, which WAIT holds up. */
  readonly replication?: {
    readonly redis: RedisClient;
    readonly replicas: number;
    readonly timeoutMs: number;
  };
}
