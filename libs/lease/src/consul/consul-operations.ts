import { z } from 'zod';
import type { ConsulAgent } from './consul-client.js';

/** A part of a transaction: https://developer.hashicorp.com/consul/api-docs/txn#kv-operations */
export interface Operation {
  readonly KV: Readonly<Record<string, string | number>>;
}

/** A key as it was read. */
export interface StoredKey {
  readonly key: string;
  readonly value: string;
  /** Counts the changes of the cluster; 0 is no key's. */
  readonly modifiedAt: number;
  /** The session that has it locked; `''` for none. */
  readonly session: string;
}

const pair = z
  .object({
    Key: z.string(),
    Value: z.string().nullable().default(null),
    ModifyIndex: z.number(),
    Session: z.string().default(''),
  })
  .transform(({ Key, Value, ModifyIndex, Session }): StoredKey => ({
    ...{ key: Key, value: Buffer.from(Value ?? '', 'base64').toString('utf8') },
    ...{ modifiedAt: ModifyIndex, session: Session },
  }));
/** What lies below a prefix; no body for nothing. */
export const pairs = z.array(pair).default([]);

const txnReply = z.object({ Results: z.array(z.object({ KV: pair })).nullish() });
const created = z.object({ ID: z.string().min(1) });

/** Up to 128 operations since 1.12, 64 before. */
export const MAX_OPERATIONS = 60;
const CONFLICT = 409;
const NOT_FOUND = 404;

function keyed(verb: string, key: string, over: Readonly<Record<string, string | number>> = {}): Operation {
  return { KV: { Verb: verb, Key: key, ...over } };
}

function base64(value: string): string {
  return Buffer.from(value, 'utf8').toString('base64');
}

/** Locks the key for the session, unless another one has it. */
export function lock(key: string, session: string, value: string): Operation {
  return keyed('lock', key, { Session: session, Value: base64(value) });
}

/** Unlocks the key, if this session has it. */
export function unlock(key: string, session: string): Operation {
  return keyed('unlock', key, { Session: session, Value: '' });
}

/** Sets the key if it was last changed then; 0 for a key that isn't there. */
export function compareAndSet(key: string, value: string, modifiedAt: number): Operation {
  return keyed('cas', key, { Value: base64(value), Index: modifiedAt });
}

export function checkSession(key: string, session: string): Operation {
  return keyed('check-session', key, { Session: session });
}

export function set(key: string): Operation {
  return keyed('set', key, { Value: '' });
}

export function remove(key: string): Operation {
  return keyed('delete', key);
}

/** Removes the key if it was last changed then. */
export function compareAndRemove(key: string, modifiedAt: number): Operation {
  return keyed('delete-cas', key, { Index: modifiedAt });
}

/**
 * All of it or nothing.
 * @returns whether it was done
 */
export async function commit(agent: ConsulAgent, operations: readonly Operation[]): Promise<boolean> {
  const request = { method: 'PUT', path: 'txn', body: operations, answers: [CONFLICT] } as const;
  return (await agent.send(request, z.unknown())).status !== CONFLICT;
}

/** What lies below each prefix, by its key, confirmed by a majority; sixty of them at one instant. */
export async function readBelow(agent: ConsulAgent, prefixes: readonly string[]): Promise<Map<string, StoredKey>> {
  const parts = Array.from({ length: Math.ceil(prefixes.length / MAX_OPERATIONS) }, (_, n) =>
    prefixes.slice(n * MAX_OPERATIONS, (n + 1) * MAX_OPERATIONS),
  );
  const found = parts.map(async (part) => {
    const body = part.map((prefix) => keyed('get-tree', prefix));
    return (await agent.send({ method: 'PUT', path: 'txn?consistent', body }, txnReply)).body.Results ?? [];
  });
  return new Map((await Promise.all(found)).flat().map(({ KV }) => [KV.key, KV]));
}

/** @returns its id */
export async function createSession(agent: ConsulAgent, seconds: number): Promise<string> {
  // Without checks: a node that only seems to be down would end its terms early. With the shortest lock-delay there is,
  // as a term that is over by its ttl needs none.
  const body = { Name: 'fencepost', TTL: `${seconds}s`, Behavior: 'delete', LockDelay: '1ms', NodeChecks: [] };
  return (await agent.send({ method: 'PUT', path: 'session/create', body }, created)).body.ID;
}

/** @returns whether it was still there, and now lasts for as long as it was created for */
export async function renewSession(agent: ConsulAgent, id: string): Promise<boolean> {
  const request = { method: 'PUT', path: `session/renew/${id}`, answers: [NOT_FOUND] } as const;
  return (await agent.send(request, z.unknown())).status !== NOT_FOUND;
}

/** Ends the session, and deletes what it has locked. */
export async function destroySession(agent: ConsulAgent, id: string): Promise<void> {
  await agent.send({ method: 'PUT', path: `session/destroy/${id}` }, z.unknown());
}
