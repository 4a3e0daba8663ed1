import type { NewPodCard } from '../../libs/operations/src/pods/pod-registry.js';

/** What a healthy pod of both roles says of itself. */
export function podCard(over: Partial<NewPodCard> = {}): NewPodCard {
  return {
    ...{ pod: 'pod-a/0123456789abcdef', label: 'pod-a', roles: ['scheduler', 'worker'], host: 'host-1', pid: 1 },
    ...{ startedAt: Date.UTC(2026, 2, 2, 8), version: '0.1.0', node: 'v22.0.0', zoneData: '2025c', app: 'app' },
    ...{ buildSeq: 1, ledger: 'redis', clockSkewMs: 0, rttMs: 0.5, lagMs: 1, leaseTtlMs: 10_000, assigned: 1, held: 1 },
    ...{ concurrency: 10, running: 0, handlers: ['tick'], runLeaseMs: 30_000, sweepEveryMs: 5_000, waitReplicas: 0 },
    ...over,
  };
}
