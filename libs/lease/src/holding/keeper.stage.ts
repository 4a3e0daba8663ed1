import { LeaseStoreDouble } from './lease-store-double.stage.js';
import type { LeaseLostError } from '../base/errors.js';
import { MemoryLeaseStore } from '../store/memory-lease-store.js';
import type { LeaseEvent } from '../telemetry/lease-events.js';
import { ManualClock } from '../testing/manual-clock.js';
import type { Lease } from './held-lease.js';
import { LeaseKeeper } from './lease-keeper.js';

export const TTL_MS = 12_000;

/** A keeper that acquires many leases at once, in a store that has sessions or has none. */
export function keeperStage({ sessions }: { readonly sessions: boolean }) {
  const clock = new ManualClock();
  const memory = new MemoryLeaseStore({ clock });
  const store = new LeaseStoreDouble(memory, sessions ? { sessions: memory.sessions } : {});
  const events: LeaseEvent[] = [];
  const keeper = new LeaseKeeper({ store, clock, holder: 'pod/1', observe: (event) => void events.push(event) });
  const lost: [resource: string, reason: string][] = [];
  const onLost = ({ resource }: Lease, { reason }: LeaseLostError) => void lost.push([resource, reason]);
  const ask = (...resources: string[]) =>
    keeper.tryAcquireMany(
      resources.map((resource) => ({ resource })),
      { ttlMs: TTL_MS, onLost },
    );
  const hold = async (...resources: string[]): Promise<Lease[]> =>
    (await ask(...resources)).flatMap((answer) => (answer.acquired ? [answer.lease] : []));
  const isHeld = async (...resources: string[]): Promise<boolean[]> =>
    (await memory.inspect(resources)).map((holding) => holding !== null);
  /** Resolves when the clock has been turned that far. */
  const after = (ms: number): Promise<void> => new Promise((resolve) => void clock.after(ms, () => resolve()));
  return { clock, memory, store, keeper, events, lost, onLost, ask, hold, isHeld, after };
}
