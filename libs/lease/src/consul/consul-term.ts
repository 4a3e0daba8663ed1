import { z } from 'zod';
import { SetupError } from '../base/errors.js';
import { formatFence, parseFence } from '../base/fence.js';
import type { Fence } from '../base/fence.js';
import type { ConsulAgent } from './consul-client.js';
import { ConsulError, UNEXPECTED } from './consul-error.js';
import { commit, createSession, destroySession, lock, renewSession, unlock } from './consul-operations.js';
import type { Operation, StoredKey } from './consul-operations.js';

/** A term as it lies under its key. */
export interface StoredTerm {
  readonly key: string;
  readonly nonce: string;
  readonly holder: string;
  readonly fence: Fence;
  /** The ttl of its session. */
  readonly seconds: number;
  /** The session that it ends with, which belongs to it alone and so names it, or is the one whose nonce is `under`. */
  readonly session: string;
  /** The nonce of the session that it was acquired under; none for a term with a ttl of its own. */
  readonly under?: string | undefined;
  /** Names a term under a session that has others. */
  readonly modifiedAt: number;
}

type TermValue = Pick<StoredTerm, 'nonce' | 'holder' | 'fence' | 'seconds' | 'under'>;

const value = z.object({
  nonce: z.string(),
  holder: z.string(),
  fence: z.string(),
  seconds: z.number(),
  under: z.string().optional(),
});

/** What Consul takes as the ttl of a session. */
const MIN_SECONDS = 10;
const MAX_SECONDS = 86_400;

/** @returns the term, if a session has the key; without one nobody does */
export function readTerm(found: StoredKey | undefined): StoredTerm | undefined {
  if (!found?.session) return undefined;
  const { fence, ...term } = parsedAs(value, found);
  const { key, session, modifiedAt } = found;
  return { ...term, fence: parseFence(fence), key, session, modifiedAt };
}

/**
 * Locks the term's key for a new session, together with `writes`.
 * @returns `false` when something has changed since it was read; nothing was done then
 */
export async function begin(
  agent: ConsulAgent,
  { key, ...term }: Omit<TermValue, 'seconds'> & { readonly key: string; readonly ttlMs: number },
  writes: readonly Operation[],
): Promise<boolean> {
  const seconds = wholeSeconds(term.ttlMs);
  const session = await createSession(agent, seconds);
  const won = await commit(agent, [...writes, lock(key, session, writeTerm({ ...term, seconds }))]);
  if (!won) await endSession(agent, session);
  return won;
}

/**
 * Makes exactly this term last `ttlMs` from now, or longer: it keeps the longest ttl it was given.
 * @returns `false` when it is over or was changed meanwhile: read it again
 */
export async function extend(agent: ConsulAgent, term: StoredTerm, ttlMs: number): Promise<boolean> {
  if (wholeSeconds(ttlMs) <= term.seconds) return renewSession(agent, term.session);
  // A session can't change its ttl, so the term moves to another one.
  const moved = await begin(agent, { ...term, ttlMs }, [unlock(term.key, term.session)]);
  if (moved) await endSession(agent, term.session);
  return moved;
}

/** What isn't ended ends by itself, so that nothing depends on it. */
export async function endSession(agent: ConsulAgent, session: string): Promise<void> {
  await destroySession(agent, session).catch((error: unknown) => {
    if (!(error instanceof ConsulError)) throw error;
  });
}

/**
 * Never fewer than asked for: a term that ends late is waited for, one that ends early has two holders.
 * @throws {SetupError} for more than a day
 */
export function wholeSeconds(ttlMs: number): number {
  const seconds = Math.max(MIN_SECONDS, Math.ceil(ttlMs / 1_000));
  if (seconds <= MAX_SECONDS) return seconds;
  throw new SetupError(`Consul grants sessions of at most a day, and a lease of ${ttlMs} ms was asked for.`);
}

export function writeTerm({ nonce, holder, fence, seconds, under }: TermValue): string {
  return JSON.stringify({ nonce, holder, fence: formatFence(fence), seconds, under });
}

export function parsedAs<S extends z.ZodType>(schema: S, { key, value: text }: StoredKey): z.output<S> {
  try {
    return schema.parse(JSON.parse(text));
  } catch (error) {
    const message = `Expected a lease under the key "${key}" of Consul, found something else: use another prefix.`;
    throw new ConsulError(message, UNEXPECTED, { cause: error });
  }
}
