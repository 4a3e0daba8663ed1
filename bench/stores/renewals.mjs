import { randomUUID } from 'node:crypto';
import { median } from '../lease/statistics.mjs';

const [CRONS, QUICK_CRONS] = [1_000, 10];
const [TIMES, QUICK_TIMES] = [5, 1];
/** Long enough for a thousand leases to be taken one by one, and within what ZooKeeper grants here. */
const TTL_MS = 120_000;

/**
 * What it costs to renew the terms of so many crons: as one session, and as a lease each, against the least that extends one
 * thing. In requests that the server got, and in µs as the median of some renewals.
 * @returns nothing where the store has no sessions, or nothing can be asked
 */
export async function measureRenewals({ store, touch, requests }, quick) {
  if (!store?.sessions || !requests) return undefined;
  const crons = quick ? QUICK_CRONS : CRONS;
  const names = Array.from({ length: crons }, (_, n) => `renewed-${n}`);
  const times = quick ? QUICK_TIMES : TIMES;
  const leases = await asLeases(store, names);
  const byLease = await cost({ renew: leases.renew, requests, times });
  await leases.end();
  const session = await asSession(store, names);
  const bySession = await cost({ renew: session.renew, requests, times });
  await session.end();
  const bare = await cost({ renew: async () => !!(await touch()), requests, times });
  return {
    crons,
    session: bySession,
    leases: byLease,
    requestsRatio: shown(byLease.requests / bySession.requests),
    timeRatio: shown(byLease.us / bySession.us),
    bareRatio: shown(bySession.us / bare.us),
  };
}

async function asLeases(store, names) {
  const asked = names.map((resource) => ({ resource, nonce: randomUUID(), holder: 'bench', ttlMs: TTL_MS, floor: 0 }));
  for (const part of parts(asked)) await Promise.all(part.map((request) => store.acquire(request)));
  return {
    renew: async () => (await store.renew(asked, TTL_MS)).every(Boolean),
    end: () => store.release(asked),
  };
}

async function asSession({ sessions }, names) {
  const session = { nonce: randomUUID(), holder: 'bench', ttlMs: TTL_MS };
  await sessions.open(session);
  for (const part of parts(names)) {
    await sessions.acquire(
      session,
      part.map((resource) => ({ resource, nonce: randomUUID(), floor: 0 })),
    );
  }
  return { renew: async () => (await sessions.renew(session, [])).live, end: () => sessions.close(session) };
}

async function cost({ renew, requests, times }) {
  const taken = [];
  const before = await requests();
  for (let n = 0; n < times; n += 1) {
    const since = performance.now();
    if (!(await renew())) throw new Error('A renewal was refused.');
    taken.push((performance.now() - since) * 1_000);
  }
  return { requests: shown(((await requests()) - before) / times), us: shown(median(taken)) };
}

const AT_ONCE = 250;

function parts(all) {
  return Array.from({ length: Math.ceil(all.length / AT_ONCE) }, (_, n) => all.slice(n * AT_ONCE, (n + 1) * AT_ONCE));
}

function shown(value) {
  return Number(value.toPrecision(2));
}
