import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { NO_FENCE } from '../../base/fence.js';
import type { LeaseSessions, Session, SessionRequest } from '../../store/lease-sessions.js';
import type { AcquireReply } from '../../store/lease-store.js';
import { assertAbove, assertAtMost } from './expectations.js';
import { TTL_MS } from './stage.js';
import type { Stage, WonTerm } from './stage.js';

interface Opened {
  readonly session: Session;
  /** Acquires under the session, and fails the test where it can't. */
  readonly win: (over?: Partial<SessionRequest>) => Promise<WonTerm>;
  readonly ask: (...resources: readonly string[]) => Promise<AcquireReply[]>;
  readonly isLive: () => Promise<boolean>;
}

/** Of a session that is meant to end: it has to last until its terms are acquired. */
export function shortTtlMs(stage: Stage): number {
  return Math.max(stage.shortTtlMs, 500);
}

export function newSession(over: Partial<Session> = {}): Session {
  return { nonce: randomUUID(), holder: 'pod/1', ttlMs: TTL_MS, ...over };
}

export function wanted(over: Partial<SessionRequest> = {}): SessionRequest {
  return { resource: 'r', nonce: randomUUID(), floor: NO_FENCE, ...over };
}

export function sessionsOf({ store }: Stage): LeaseSessions {
  return store.sessions ?? assert.fail('Expected a store with sessions.');
}

export async function open(stage: Stage, over: Partial<Session> = {}): Promise<Opened> {
  const sessions = sessionsOf(stage);
  const mine = newSession(over);
  await sessions.open(mine);
  const win = async (how?: Partial<SessionRequest>) => {
    const asked = wanted(how);
    const [reply] = await sessions.acquire(mine, [asked]);
    assert.ok(reply?.acquired, `Expected to win ${asked.resource}, got ${JSON.stringify(reply)}.`);
    return { resource: asked.resource, nonce: asked.nonce, fence: reply.fence };
  };
  return {
    session: mine,
    win,
    ask: (...resources) =>
      sessions.acquire(
        mine,
        resources.map((resource) => wanted({ resource })),
      ),
    isLive: async () => (await sessions.renew(mine, [])).live,
  };
}

export async function announcements({ store }: Stage) {
  const heard: string[] = [];
  const stop = await store.watchReleases((resource) => void heard.push(resource));
  return { heard, stop };
}

export async function assertHeld({ store }: Stage, expected: Readonly<Record<string, boolean>>): Promise<void> {
  const holdings = await store.inspect(Object.keys(expected));
  assert.deepEqual(
    holdings.map((holding) => holding !== null),
    Object.values(expected),
  );
}

/** What a contender is told of a holder whose ttl was counted from a moment ago. */
export function assertLeft({ coarsenessMs }: Stage, remainingMs: number): void {
  assertAbove(remainingMs, TTL_MS / 2);
  assertAtMost(remainingMs, TTL_MS + coarsenessMs);
}
