import { z } from 'zod';
import { formatFence, parseFence } from '../base/fence.js';
import type { Fence } from '../base/fence.js';
import type { EtcdMember } from './etcd-client.js';
import { EtcdError, UNKNOWN } from './etcd-error.js';
import { grant, keepAlive, revoke, wholeSeconds } from './etcd-lease.js';
import { fromBase64 } from './etcd-replies.js';
import type { KeyValue } from './etcd-replies.js';
import { commit, created, put } from './etcd-transaction.js';
import type { Revision } from './etcd-transaction.js';

/** A term as it lies under its key. */
export interface StoredTerm {
  readonly key: string;
  readonly nonce: string;
  readonly holder: string;
  readonly fence: Fence;
  /** What its lease was asked for; etcd may have granted more. */
  readonly seconds: number;
  /** The etcd lease it ends with, which belongs to it alone. */
  readonly lease: string;
  /** Names this term among all that ever lay under the key, and stays when the value changes. */
  readonly createdAt: Revision;
}

type TermValue = Pick<StoredTerm, 'nonce' | 'holder' | 'fence' | 'seconds'>;

const value = z.object({ nonce: z.string(), holder: z.string(), fence: z.string(), seconds: z.number() });

export function writeTerm({ nonce, holder, fence, seconds }: TermValue): string {
  return JSON.stringify({ nonce, holder, fence: formatFence(fence), seconds });
}

/** @throws {EtcdError} when something else lies there */
export function readTerm(key: string, found: KeyValue | undefined): StoredTerm | undefined {
  if (!found) return undefined;
  const { fence, ...term } = parsed(key, fromBase64(found.value));
  return { key, ...term, fence: parseFence(fence), lease: found.lease, createdAt: found.create_revision };
}

/**
 * Makes exactly this term last `ttlMs` from now.
 * @returns `false` when it is over or was changed meanwhile: read it again
 */
export async function extend(member: EtcdMember, term: StoredTerm, ttlMs: number): Promise<boolean> {
  const seconds = wholeSeconds(ttlMs);
  if (seconds === term.seconds) return keepAlive(member, term.lease);
  // An etcd lease can't change its length, so the term moves to another one.
  const lease = await grant(member, seconds);
  const moved = await commit(member, {
    compare: [created(term.key, term.createdAt)],
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
