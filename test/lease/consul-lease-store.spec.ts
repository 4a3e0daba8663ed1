import { afterAll, beforeAll, describe, expect } from 'vitest';
import { ConsulLeaseStore, type ConsulLeaseStoreOptions } from '@fencepost/lease/consul';
import type { AcquireRequest, LeaseSessions, Session, Term } from '@fencepost/lease/store';
import { leaseStoreContract } from '../contracts/lease-store.contract.js';
import { consulDouble, type ConsulDouble } from '../support/consul-double.js';
import { freshPrefix } from '../support/redis.js';

/** The suite has terms of 10 s outlast those of 50 ms. Consul grants no less than 10 s, so that here all last three times as long. */
const TIMES = 3;

class LongerConsulLeaseStore extends ConsulLeaseStore {
  override acquire(request: AcquireRequest) {
    return super.acquire({ ...request, ttlMs: TIMES * request.ttlMs });
  }

  override renew(terms: readonly Term[], ttlMs: number) {
    return super.renew(terms, TIMES * ttlMs);
  }
}

function longerStore(options: ConsulLeaseStoreOptions): LongerConsulLeaseStore {
  const store = new LongerConsulLeaseStore(options);
  const { sessions } = store;
  const longer = (session: Session) => ({ ...session, ttlMs: TIMES * session.ttlMs });
  return Object.assign(store, {
    sessions: {
      open: (session) => sessions.open(longer(session)),
      renew: (session, acknowledged) => sessions.renew(longer(session), acknowledged),
      close: (session) => sessions.close(session),
      closeOf: (resource, fence) => sessions.closeOf(resource, fence),
      acquire: (session, requests) => sessions.acquire(longer(session), requests),
    } satisfies LeaseSessions,
  });
}

/** What is left is the ttl, rounded up. */
const COARSENESS_MS = (TIMES - 1) * 10_000;

describe('the Consul lease store, in front of a double', () => {
  let consul: ConsulDouble;

  beforeAll(async () => {
    consul = await consulDouble();
  });
  afterAll(() => consul.stop());

  leaseStoreContract('the Consul store', async () => {
    const store = longerStore({ endpoints: [consul.url], timeoutMs: 60_000, prefix: freshPrefix() });
    return {
      store,
      coarsenessMs: COARSENESS_MS,
      untilFree: async (resource) => {
        // A ttl is a lower bound: the least that Consul takes, twice.
        consul.advance(20_000);
        expect(await store.inspect([resource])).toEqual([null]);
      },
      lose: async () => consul.forget(),
      close: async () => consul.forget(),
    };
  });
});

const SERVER = process.env['CONSUL_HTTP_ADDR'];

/** Each term lasts for 10 s to 20 s. */
describe.runIf(SERVER)('the Consul lease store, in front of a server', { timeout: 180_000 }, () => {
  leaseStoreContract('the Consul store', async () => {
    const endpoint = SERVER?.includes('://') ? SERVER : `http://${SERVER}`;
    const prefix = freshPrefix();
    const store = longerStore({ endpoints: [endpoint], timeoutMs: 60_000, prefix });
    const forget = async () => {
      await fetch(`${endpoint}/v1/kv/${prefix}/?recurse`, { method: 'DELETE' });
    };
    return {
      store,
      coarsenessMs: COARSENESS_MS,
      untilFree: async (resource) => {
        await expect.poll(() => store.inspect([resource]), { interval: 200, timeout: 60_000 }).toEqual([null]);
      },
      lose: forget,
      close: forget,
    };
  });
});
