import type { Fence } from '../base/fence.js';
import { checkResourceName } from '../base/resource.js';
import { checkRequest } from './lease-request.js';
import type { Term } from './grant.js';
import type { Session, SessionRequest } from './lease-sessions.js';
import type { AcquireReply } from './lease-store.js';

/** The answer to each request of a session that is over. */
export const SESSION_OVER: AcquireReply = { acquired: false, remainingMs: 0 };

/** Replies by the place of their requests. */
export type Replies = Map<number, AcquireReply>;

/** A request with its place in the answer. */
export interface PlacedRequest {
  readonly place: number;
  readonly request: SessionRequest;
}

/** @throws {RangeError} for what no store takes */
export function checkSession(session: Session, requests: readonly SessionRequest[] = []): void {
  checkRequest({ ...session, floor: 0 as Fence });
  for (const request of requests) checkRequest({ ...request, ttlMs: session.ttlMs });
}

/** Those without a reply; of several for one resource the first, as the others see what became of it. */
export function firstOfEach(requests: readonly SessionRequest[], replies: Replies): PlacedRequest[] {
  const first = new Map<string, PlacedRequest>();
  for (const [place, request] of requests.entries()) {
    const resource = checkResourceName(request.resource);
    if (!replies.has(place) && !first.has(resource)) first.set(resource, { place, request });
  }
  return [...first.values()];
}

/** In the order of the requests. */
export function repliesTo(requests: readonly SessionRequest[], replies: Replies): AcquireReply[] {
  return requests.map((_, place) => replies.get(place) ?? SESSION_OVER);
}

export function partsOf<T>(all: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, n) => all.slice(n * size, (n + 1) * size));
}

/** Tells a term from all others. */
export function isIn(terms: readonly Term[]): (term: Term) => boolean {
  const known = new Set(terms.map(keyOf));
  return (term) => known.has(keyOf(term));
}

function keyOf({ resource, nonce }: Term): string {
  return JSON.stringify([resource, nonce]);
}
