import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { BoundedCluster, type ClusterSettings } from './redis-clients.js';
import { RotatingCredentials, type CredentialsSource } from './redis-credentials.js';
import { systemClock } from '../base/clock.js';

const PAUSE_MS = 300;
const STARTUP_MS = 5_000;

/** A cluster that is never connected, whose subscriber notes with which password of the nodes it is selected. */
function stage() {
  let password = 'p1';
  const source = vi.fn<CredentialsSource>(async () => ({ username: 'app', password }));
  const credentials = new RotatingCredentials(source, { clock: systemClock, report: () => {} });
  const settings: ClusterSettings = { lazyConnect: true, clusterRetryStrategy: () => PAUSE_MS, credentials };
  const cluster = new BoundedCluster([{ host: '127.0.0.1', port: 1 }], settings, STARTUP_MS);
  const subscriber = Reflect.get(cluster, 'subscriber');
  const pool = Reflect.get(cluster, 'connectionPool');
  const selected: string[] = [];
  subscriber.started = true;
  subscriber.selectSubscriber = () => selected.push(pool.redisOptions.password);
  return { cluster, source, selected, end: () => subscriber.onSubscriberEnd(), rotate: () => void (password = 'p2') };
}

describe('the subscriber of a cluster', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('is selected again after a pause, with the credentials of that moment', async () => {
    const { end, rotate, selected } = stage();
    end();
    await vi.advanceTimersByTimeAsync(PAUSE_MS - 1);
    expect(selected).toEqual([]);
    rotate();
    await vi.advanceTimersByTimeAsync(1);
    expect(selected).toEqual(['p2']);
  });

  it('is selected once, however many end in the pause, and again when the next ends', async () => {
    const { end, selected } = stage();
    end();
    end();
    await vi.advanceTimersByTimeAsync(2 * PAUSE_MS);
    expect(selected).toEqual(['p1']);
    end();
    await vi.advanceTimersByTimeAsync(PAUSE_MS);
    expect(selected).toEqual(['p1', 'p1']);
  });

  it('is selected also while the function fails', async () => {
    const { end, source, selected } = stage();
    source.mockRejectedValue(new Error('no answer'));
    end();
    await vi.advanceTimersByTimeAsync(PAUSE_MS);
    expect(selected).toHaveLength(1);
  });

  it('is left alone when the cluster is closed', async () => {
    const { cluster, end, source, selected } = stage();
    cluster.disconnect();
    end();
    await vi.advanceTimersByTimeAsync(PAUSE_MS);
    expect([selected, source.mock.calls]).toEqual([[], []]);
  });
});

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
