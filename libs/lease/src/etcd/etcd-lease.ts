import type { EtcdMember } from './etcd-client.js';
import { EtcdError } from './etcd-error.js';
import { emptyReply, grantReply, keepAliveReply, timeToLiveReply } from './etcd-replies.js';

/** etcd's own leases, which end the keys attached to them. Their ids have 64 bits, so they stay text. */

/** Never fewer than asked for: a term that ends late is waited for, one that ends early has two holders. */
export function wholeSeconds(ttlMs: number): number {
  return Math.ceil(ttlMs / 1_000);
}

/** @returns its id */
export async function grant(member: EtcdMember, seconds: number): Promise<string> {
  return (await member.post('lease/grant', { TTL: `${seconds}` }, grantReply)).ID;
}

/** @returns whether it was still there, and now lasts for as long as it was granted for */
export async function keepAlive(member: EtcdMember, id: string): Promise<boolean> {
  return Number((await member.post('lease/keepalive', { ID: id }, keepAliveReply)).result.TTL) > 0;
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
