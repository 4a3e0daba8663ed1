import { FenceExhaustedError } from '../base/errors.js';
import { formatFence, parseFence } from '../base/fence.js';
import type { Fence } from '../base/fence.js';
import { checkResourceName } from '../base/resource.js';
import type { Term } from '../store/grant.js';
import { checkRequest } from '../store/lease-request.js';
import { ALL_RELEASED } from '../store/lease-sessions.js';
import type { LeaseSessions, Session, SessionReply, SessionRequest } from '../store/lease-sessions.js';
import type { AcquireReply } from '../store/lease-store.js';
import { isFenceExhausted, isNotAllowed } from './lease-rows.js';
import type { LeaseRows } from './lease-rows.js';

/** Each further try means that other holders took resources between a statement's read and its lock. */
const MAX_READS = 10;
const OVER: AcquireReply = { acquired: false, remainingMs: 0 };

/**
 * Sessions as rows beside those of the leases. A lease's row names its session and is never written again while it is held:
 * to renew, to lose and to close all of them is a write to one row.
 */
export class PostgresSessions implements LeaseSessions {
  readonly #rows: LeaseRows;
  readonly #released: string;

  constructor(rows: LeaseRows, released: string) {
    this.#rows = rows;
    this.#released = released;
  }

  async open(session: Session): Promise<void> {
    const { nonce, holder, ttlMs } = checked(session);
    await this.#rows.ask('sweep-sessions').catch(unlessNotAllowed);
    await this.#rows.ask('open-session', nonce, holder, ttlMs.toFixed(0));
  }

  async renew(session: Session, acknowledged: readonly Term[]): Promise<SessionReply> {
    const { nonce, ttlMs } = checked(session);
    const terms = [acknowledged.map(({ resource }) => resource), acknowledged.map((term) => term.nonce)];
    const rows = (await this.#rows.ask('renew-session', nonce, ttlMs.toFixed(0), ...terms)) as RenewedRow[];
    const revoked = rows.flatMap((row) =>
      row.resource === null ? [] : [{ resource: row.resource, nonce: row.nonce }],
    );
    return { live: rows[0]?.live === true, revoked };
  }

  async close({ nonce }: Session): Promise<boolean> {
    return (await this.#rows.ask('close-session', nonce, this.#released, ALL_RELEASED)).length > 0;
  }

  async closeOf(resource: string, fence: Fence): Promise<boolean> {
    const term = [checkResourceName(resource), formatFence(fence)];
    return (await this.#rows.ask('close-session-of', ...term, this.#released, ALL_RELEASED)).length > 0;
  }

  async acquire(session: Session, requests: readonly SessionRequest[]): Promise<AcquireReply[]> {
    const { ttlMs } = checked(session);
    const asked = requests.map((request) => ({ ...request, resource: checkResourceName(request.resource) }));
    for (const request of asked) checkRequest({ ...request, ttlMs });
    const replies = new Map<number, AcquireReply>();
    for (let looks = 0; looks < MAX_READS && replies.size < asked.length; looks += 1) {
      const open = asked.map((request, place) => ({ request, place })).filter(({ place }) => !replies.has(place));
      const rows = await this.#acquire(
        session,
        open.map(({ request }) => request),
      );
      if (rows.some(({ word }) => word === 'OVER')) return asked.map(() => OVER);
      for (const row of rows) replies.set(open[row.place]?.place ?? 0, replyIn(row));
    }
    return asked.map((_, place) => replies.get(place) ?? OVER);
  }

  async #acquire({ nonce }: Session, asked: readonly SessionRequest[]): Promise<readonly AcquiredRow[]> {
    const floors = asked.map(({ floor }) => formatFence(floor));
    const batch = [asked.map(({ resource }) => resource), asked.map((request) => request.nonce), floors];
    try {
      return (await this.#rows.ask('acquire-session-leases', nonce, ...batch)) as AcquiredRow[];
    } catch (error) {
      if (isFenceExhausted(error)) throw new FenceExhaustedError(highest(asked).resource);
      throw error;
    }
  }
}

interface RenewedRow {
  readonly live: boolean;
  readonly resource: string | null;
  readonly nonce: string;
}

interface AcquiredRow {
  readonly place: number;
  readonly word: 'ACQUIRED' | 'BUSY' | 'OVER';
  readonly value: string;
}

function replyIn({ word, value }: AcquiredRow): AcquireReply {
  return word === 'ACQUIRED'
    ? { acquired: true, fence: parseFence(value) }
    : { acquired: false, remainingMs: Number(value) };
}

/** @throws {RangeError} */
function checked(session: Session): Session {
  checkRequest({ ...session, floor: 0 as Fence });
  return session;
}

/** A role without DELETE keeps one row for each process that ever was. */
function unlessNotAllowed(error: unknown): void {
  if (!isNotAllowed(error)) throw error;
}

/** The server doesn't say which fence it refused; the floor is where such a number comes from. */
function highest(asked: readonly SessionRequest[]): Pick<SessionRequest, 'resource'> {
  return asked.toSorted((one, other) => other.floor - one.floor)[0] ?? { resource: '' };
}
