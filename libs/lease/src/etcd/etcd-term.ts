import { z } from 'zod';
import { formatFence, parseFence } from '../base/fence.js';
import type { Fence } from '../base/fence.js';
import type { EtcdMember } from './etcd-client.js';
import { EtcdError, FAILED_PRECONDITION, NOT_FOUND, UNKNOWN } from './etcd-error.js';
import { fromBase64, emptyReply, grantReply, keepAliveReply, timeToLiveReply } from './etcd-replies.js';
import type { KeyValue } from './etcd-replies.js';
import { commit, created, modified, put } from './etcd-transaction.js';
import type { Revision } from './etcd-transaction.js';

/** A term as it lies under its key. */
export interface StoredTerm {
  readonly key: string;
  readonly nonce: string;
  readonly holder: string;
  readonly fence: Fence;
  /** What its lease was asked for; etcd may have granted more. */
  readonly seconds: number;
  /** The etcd lease it ends with, which belongs to it alone, or to its session. */
  readonly lease: string;
  /** The nonce of its session; none for a term with a ttl of its own. */
  readonly session?: string | undefined;
  /** Names this term among all that ever lay under the key, and stays when the value changes. */
  readonly createdAt: Revision;
  /** Another one with each etcd lease that the term is moved to. */
  readonly movedAt: Revision;
}

type TermValue = Pick<StoredTerm, 'nonce' | 'holder' | 'fence' | 'seconds' | 'session'>;

const value = z.object({
  nonce: z.string(),
  holder: z.string(),
  fence: z.string(),
  seconds: z.number(),
  session: z.string().optional(),
});

export function writeTerm({ nonce, holder, fence, seconds, session }: TermValue): string {
  return JSON.stringify({ nonce, holder, fence: formatFence(fence), seconds, session });
}

/** @throws {EtcdError} when something else lies there */
export function readTerm(key: string, found: KeyValue | undefined): StoredTerm | undefined {
  if (!found) return undefined;
  const { fence, ...term } = parsed(key, fromBase64(found.value));
  const revisions = { createdAt: found.create_revision, movedAt: found.mod_revision };
  return { key, ...term, fence: parseFence(fence), lease: found.lease, ...revisions };
}

/**
 * Makes exactly this term last `ttlMs` from now, or longer: it keeps the longest ttl it was given. A term that was moved to a
 * shorter etcd lease could end before a renewal that has just kept the longer one alive says it does.
 * @returns `false` when it is over or was changed meanwhile: read it again
 */
export async function extend(member: EtcdMember, term: StoredTerm, ttlMs: number): Promise<boolean> {
  const seconds = wholeSeconds(ttlMs);
  if (seconds <= term.seconds) return (await keepAlive(member, term.lease)) > 0;
  // An etcd lease can't change its length, so the term moves to another one.
  const lease = await grant(member, seconds);
  const moved = await commit(member, {
    // And not where another renewal has moved it: perhaps further.
    compare: [created(term.key, term.createdAt), modified(term.key, term.movedAt)],
    success: [put(term.key, writeTerm({ ...term, seconds }), lease)],
  });
  await revoke(member, moved ? term.lease : lease);
  return moved;
}

function parsed(key: string, text: string): z.output<typeof value> {
  try {
    return value.parse(JSON.parse(text));
  } catch (error) {
    const message = `Expected a lease under the key "${key}" of etcd, found something else: use another prefix.`;
    throw new EtcdError(message, UNKNOWN, { cause: error });
  }
}

/** etcd's own leases, which end the keys attached to them. Their ids have 64 bits, so they stay text. */

/** Never fewer than asked for: a term that ends late is waited for, one that ends early has two holders. */
export function wholeSeconds(ttlMs: number): number {
  return Math.ceil(ttlMs / 1_000);
}

/** @returns its id */
export async function grant(member: EtcdMember, seconds: number): Promise<string> {
  return (await member.post('lease/grant', { TTL: `${seconds}` }, grantReply)).ID;
}

/** @returns `false` where one with this id is there already */
export async function grantAs(member: EtcdMember, id: string, seconds: number): Promise<boolean> {
  return unless(FAILED_PRECONDITION, member.post('lease/grant', { ID: id, TTL: `${seconds}` }, grantReply));
}

/** @returns how many seconds it was granted for and now lasts, 0 when it was over */
export async function keepAlive(member: EtcdMember, id: string): Promise<number> {
  return Number((await member.post('lease/keepalive', { ID: id }, keepAliveReply)).result.TTL);
}

/** @returns `false` when it was over */
export async function revokeNow(member: EtcdMember, id: string): Promise<boolean> {
  return unless(NOT_FOUND, member.post('lease/revoke', { ID: id }, emptyReply));
}

async function unless(status: number, asking: Promise<unknown>): Promise<boolean> {
  try {
    await asking;
    return true;
  } catch (error) {
    if (error instanceof EtcdError && error.status === status) return false;
    throw error;
  }
}

/** What isn't revoked ends by itself, so that nothing depends on it. */
export async function revoke(member: EtcdMember, id: string): Promise<void> {
  await member.post('lease/revoke', { ID: id }, emptyReply).catch((error: unknown) => {
    if (!(error instanceof EtcdError)) throw error;
  });
}

/** @returns milliseconds, `null` when it is over. etcd counts whole seconds and leaves out the one that has begun. */
export async function remaining(member: EtcdMember, id: string): Promise<number | null> {
  const seconds = Number((await member.post('lease/timetolive', { ID: id }, timeToLiveReply)).TTL);
  return seconds < 0 ? null : (seconds + 1) * 1_000;
}
