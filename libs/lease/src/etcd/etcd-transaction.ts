import type { EtcdMember } from './etcd-client.js';
import { EtcdError, NOT_FOUND } from './etcd-error.js';
import { fromBase64, keysReply, pairsReply, toBase64, txnReply } from './etcd-replies.js';
import type { KeyValue } from './etcd-replies.js';

/** A revision of etcd: counts every transaction of the cluster. 64 bits wide, so it stays text. */
export type Revision = string;

/** What `created` and `modified` say of a key that isn't there. */
export const ABSENT: Revision = '0';

/** etcd's default for `--max-txn-ops` is 128. */
const MAX_OPERATIONS = 100;

export function created(key: string, revision: Revision): object {
  return { key: toBase64(key), target: 'CREATE', result: 'EQUAL', create_revision: revision };
}

export function modified(key: string, revision: Revision): object {
  return { key: toBase64(key), target: 'MOD', result: 'EQUAL', mod_revision: revision };
}

/** @param lease the key ends with it */
export function put(key: string, value: string, lease?: string): object {
  return { request_put: { key: toBase64(key), value: toBase64(value), ...(lease === undefined ? {} : { lease }) } };
}

export function remove(key: string): object {
  return { request_delete_range: { key: toBase64(key) } };
}

/**
 * All of it if every comparison holds, else nothing.
 * @returns whether it was done; `false` also when the lease of a `put` was over
 */
export async function commit(
  member: EtcdMember,
  transaction: { readonly compare: readonly object[]; readonly success: readonly object[] },
): Promise<boolean> {
  try {
    return (await member.post('kv/txn', transaction, txnReply)).succeeded;
  } catch (error) {
    if (error instanceof EtcdError && error.status === NOT_FOUND) return false;
    throw error;
  }
}

/** What lies under each key, as a majority knows it; each hundred of them at one instant. */
export async function read(member: EtcdMember, keys: readonly string[]): Promise<(KeyValue | undefined)[]> {
  const parts = Array.from({ length: Math.ceil(keys.length / MAX_OPERATIONS) }, (_, n) =>
    keys.slice(n * MAX_OPERATIONS, (n + 1) * MAX_OPERATIONS),
  );
  const found = parts.map(async (part) => {
    const success = part.map((key) => ({ request_range: { key: toBase64(key) } }));
    const { responses } = await member.post('kv/txn', { success }, txnReply);
    return part.map((_, n) => responses[n]?.response_range?.kvs[0]);
  });
  return (await Promise.all(found)).flat();
}

export interface NamedValue {
  readonly key: string;
  readonly value: string;
}

/** All keys that begin with `head`, as a majority knows them. */
export async function readBelow(member: EtcdMember, head: string): Promise<NamedValue[]> {
  const { kvs } = await member.post('kv/range', { key: toBase64(head), range_end: toBase64(endOf(head)) }, pairsReply);
  return kvs.map(({ key, value }) => ({ key: fromBase64(key), value: fromBase64(value) }));
}

/** The first key behind all that begin with `head` has the next last letter. */
function endOf(head: string): string {
  return head.slice(0, -1) + String.fromCharCode(head.charCodeAt(head.length - 1) + 1);
}

interface Range {
  readonly head: string;
  readonly after: string;
  readonly limit: number;
}

/** Some of the keys that begin with `head`, in their order. */
export async function keysAfter(member: EtcdMember, { head, after, limit }: Range): Promise<string[]> {
  // The first key behind one is that with a zero byte at its end.
  const asked = { key: toBase64(`${after}\0`), range_end: toBase64(endOf(head)), limit: `${limit}`, keys_only: true };
  const { kvs } = await member.post('kv/range', asked, keysReply);
  return kvs.map(({ key }) => fromBase64(key));
}
