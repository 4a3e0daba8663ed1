import { describe, expect, it } from 'vitest';
import { BoundedCluster } from './redis-clients.js';

describe('a copy of the connection to a cluster', () => {
  const redisOptions = { connectionName: 'first', maxRetriesPerRequest: 2, password: 'secret', commandTimeout: 5_000 };
  const cluster = new BoundedCluster([{ host: '127.0.0.1', port: 1 }], { lazyConnect: true, redisOptions }, 500);
  const copyOf = (...given: Parameters<BoundedCluster['duplicate']>) =>
    cluster.duplicate(...given) as unknown as BoundedCluster;

  it('has options of its own for the nodes, and their time limit for all that it sends', () => {
    const over = { connectionName: 'copy', commandTimeout: 2_000 };
    const copy = copyOf([], { redisOptions: over });
    expect(copy.limitMs).toBe(2_000);
    expect(copy.options.redisOptions).toEqual({ ...redisOptions, ...over });
    expect([copyOf().limitMs, cluster.limitMs]).toEqual([500, 500]);
  });
});
