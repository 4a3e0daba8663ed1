import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Leases } from '../../holding/leases.js';
import type { LeaseStore } from '../../store/lease-store.js';
import { assertFree, assertRejects, eventually } from './expectations.js';
import type { Claims } from './stage.js';

const CLOSED = { name: 'LeasesClosedError', code: 'LEASES_CLOSED' };

/** `Leases` over the store, at the end of their process. */
export const CLOSING: Claims = {
  'ends those who wait at once, and lets the next one in': async ({ store }) => {
    const network = gated(store);
    network.open();
    const [holder, next] = [new Leases({ store, holder: 'a' }), new Leases({ store, holder: 'c' })];
    const closed = new Leases({ store: network.store, holder: 'b' });
    const held = await holder.acquire('r');
    const waiting = Promise.all([
      assertRejects(closed.acquire('r', { wait: '1h' }), CLOSED),
      assertRejects(closed.acquireMany(['free', 'r'], { wait: '1h' }), CLOSED),
    ]);
    await eventually('each resource was asked for', () => network.answered() >= 3);
    await closed.close();
    await waiting;
    await held.release();
    assert.equal((await next.acquire('r')).holder, 'c');
    await assertFree(store, 'free');
    for (const leases of [holder, next]) await leases.close();
    await assertRejects(closed.tryAcquire('r'), CLOSED);
    await assertFree(store, 'r');
  },

  'gives back what the store grants while the leases are being closed': async ({ store }) => {
    const network = gated(store);
    const leases = new Leases({ store: network.store });
    const asked = [
      assertRejects(leases.acquire('r', { wait: '1h' }), CLOSED),
      assertRejects(leases.tryAcquire('other'), CLOSED),
    ];
    await eventually('the store has granted both', () => network.answered() === 2);
    const closing = leases.close();
    network.open();
    await Promise.all([closing, ...asked]);
    await assertFree(store, 'r', 'other');
  },
};

interface Gated {
  readonly store: LeaseStore;
  /** How many requests the store has answered, whether or not the caller has the answer yet. */
  readonly answered: () => number;
  /** Lets the answers through. */
  readonly open: () => void;
}

/** The store behind a network that holds its answers to requests back until it is opened. */
function gated(store: LeaseStore): Gated {
  let answered = 0;
  const gate = new AbortController();
  const opened = once(gate.signal, 'abort');
  const acquire: LeaseStore['acquire'] = async (request) => {
    const reply = await store.acquire(request);
    answered += 1;
    await opened;
    return reply;
  };
  const proxy = new Proxy(store, {
    get: (target, name) => {
      if (name === 'acquire') return acquire;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  return { store: proxy, answered: () => answered, open: () => gate.abort() };
}
