import { randomUUID } from 'node:crypto';
import { type LeaseStore, NO_FENCE } from '@fencepost/lease';
import type { AcquireReply } from '@fencepost/lease/store';
import { TTL_MS } from './lease-requests.js';

type Sessions = NonNullable<LeaseStore['sessions']>;
export type Session = Parameters<Sessions['open']>[0];
export type SessionRequest = Parameters<Sessions['acquire']>[1][number];

export function sessionsOf({ sessions }: LeaseStore): Sessions {
  if (!sessions) throw new Error('Expected a store with sessions.');
  return sessions;
}

export function newSession(over: Partial<Session> = {}): Session {
  return { nonce: randomUUID(), holder: 'pod/1', ttlMs: TTL_MS, ...over };
}

/** A request under a fresh nonce. */
export function wanted(over: Partial<SessionRequest> = {}): SessionRequest {
  return { resource: 'r', nonce: randomUUID(), floor: NO_FENCE, ...over };
}

export function manyWanted(count: number): SessionRequest[] {
  return Array.from({ length: count }, (_, n) => wanted({ resource: `r${n}` }));
}

export async function openSession(store: LeaseStore, over: Partial<Session> = {}): Promise<Session> {
  const session = newSession(over);
  await sessionsOf(store).open(session);
  return session;
}

/** Acquires one resource, and fails the test where it can't. */
export async function winUnder(store: LeaseStore, session: Session, over: Partial<SessionRequest> = {}) {
  const asked = wanted(over);
  const [reply] = await sessionsOf(store).acquire(session, [asked]);
  return { ...asked, fence: fenceOf(reply) };
}

export function fenceOf(reply: AcquireReply | undefined) {
  if (!reply?.acquired) throw new Error(`Expected a term, got ${JSON.stringify(reply)}.`);
  return reply.fence;
}
