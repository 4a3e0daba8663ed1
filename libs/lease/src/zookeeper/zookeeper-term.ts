import { z } from 'zod';
import { SetupError } from '../base/errors.js';
import { formatFence, parseFence } from '../base/fence.js';
import type { Fence } from '../base/fence.js';
import { NEW_SESSION } from './zookeeper-connection.js';
import type { Session, ZookeeperConnection } from './zookeeper-connection.js';
import type { ZookeeperServer } from './zookeeper-client.js';
import type { TermPaths } from './zookeeper-paths.js';
import { DATA_INCONSISTENCY, NO_NODE, SESSION_EXPIRED, ZookeeperError } from './zookeeper-error.js';
import {
  check,
  create,
  getData,
  readNode,
  readTransaction,
  remove,
  setData,
  sync,
  transaction,
} from './zookeeper-operations.js';
import type { Access, Node, Operation } from './zookeeper-operations.js';

/** A term as it lies in its node. */
export interface StoredTerm {
  readonly nonce: string;
  readonly holder: string;
  readonly fence: Fence;
  /** The version of the counter since this term, or this session of it, began: names it among all that ever were. */
  readonly stamp: number;
  /** The session that it ends with, which belongs to it alone, or to the one whose nonce is `under`. */
  readonly session: Session;
  /** The nonce of the session that it was acquired under; none for a term with a ttl of its own. */
  readonly under?: string | undefined;
  readonly modifiedAt: number;
}

type NewTerm = Pick<StoredTerm, 'nonce' | 'holder' | 'fence' | 'stamp' | 'under'>;

const value = z.object({
  nonce: z.string(),
  holder: z.string(),
  fence: z.string(),
  stamp: z.number(),
  password: z.string(),
  timeoutMs: z.number(),
  under: z.string().optional(),
});

/** What lies at each path, as the leader knows it now; `undefined` for nothing. */
export async function readNodes(
  connection: ZookeeperConnection,
  paths: readonly string[],
): Promise<(Node | undefined)[]> {
  const synced = connection.request(sync('/'), () => {});
  const nodes = paths.map((path) => connection.request(getData(path), readNode).catch(nothingThere));
  const [found] = await Promise.all([Promise.all(nodes), synced]);
  return found;
}

function nothingThere(error: unknown): undefined {
  if (!(error instanceof ZookeeperError) || error.status !== NO_NODE) throw error;
}

/** @throws {ZookeeperError} when something else lies there */
export function readTerm(path: string, node: Node | undefined): StoredTerm | undefined {
  if (!node) return undefined;
  const { fence, password, timeoutMs, ...term } = parsedAs(value, path, node.data);
  const session = { id: node.session, password: Buffer.from(password, 'base64'), timeoutMs };
  return { ...term, fence: parseFence(fence), session, modifiedAt: node.modifiedAt };
}

/**
 * Puts a term into its node, bound to a new session of at least `ttlMs`, together with the counter.
 * @param writes what else the transaction does, before
 * @returns `undefined` when it was done; else the code for which nothing was: something has changed since it was read
 * @throws {SetupError} for a ttl longer than ZooKeeper grants
 */
export function beginIn(
  server: ZookeeperServer,
  { path, term, ttlMs, access }: { path: string; term: NewTerm; ttlMs: number; access: Access },
  writes: readonly Operation[],
): Promise<number | undefined> {
  return server.inSession({ ...NEW_SESSION, timeoutMs: ttlMs }, async (connection) => {
    if (connection.session.timeoutMs < ttlMs) throw tooLong(ttlMs, connection);
    const data = writeTerm(term, connection.session);
    const put = create({ path, data, access, ephemeral: true });
    const refused = await connection.request(transaction([...writes, put]), readTransaction);
    if (refused !== undefined) connection.closeSession();
    return refused;
  });
}

/**
 * Counts the session of exactly this term anew, and has a majority confirm that the term is still there.
 *
 * Continuing a session is the leader's own act: one that was replaced and hasn't noticed would still do it. It could not
 * get a transaction through, which has to come on the same connection, or another leader might have confirmed it.
 * @returns `false` when it is over or was changed meanwhile: read it again
 */
export async function touch(
  server: ZookeeperServer,
  { term: path, counter }: TermPaths,
  term: StoredTerm,
): Promise<boolean> {
  try {
    return await server.inSession(term.session, async (connection) => {
      const write = setData(path, writeTerm(term, term.session));
      return (
        (await connection.request(transaction([check(counter, term.stamp), write]), readTransaction)) === undefined
      );
    });
  } catch (error) {
    if (error instanceof ZookeeperError && error.status === SESSION_EXPIRED) return false;
    throw error;
  }
}

/** A session can't change its timeout safely while another call continues it, so the term moves to another session. */
export async function moveTo(
  server: ZookeeperServer,
  paths: TermPaths,
  { term, ttlMs, access }: { term: StoredTerm; ttlMs: number; access: Access },
): Promise<boolean> {
  const moved = { ...term, stamp: term.stamp + 1 };
  const count = setData(paths.counter, formatFence(term.fence), term.stamp);
  const writes = [count, remove(paths.term)];
  return (await beginIn(server, { path: paths.term, term: moved, ttlMs, access }, writes)) === undefined;
}

/** Milliseconds by this process' clock, as ZooKeeper doesn't say how long a session has left. */
export function remaining({ modifiedAt, session }: Pick<StoredTerm, 'modifiedAt' | 'session'>, now: number): number {
  return Math.min(Math.max(0, modifiedAt + session.timeoutMs - now), session.timeoutMs);
}

/** A term under another session doesn't repeat what continues that: whoever renews it has its node. */
export function writeTerm({ nonce, holder, fence, stamp, under }: NewTerm, { password, timeoutMs }: Session): string {
  return JSON.stringify({
    nonce,
    holder,
    fence: formatFence(fence),
    stamp,
    timeoutMs,
    password: under === undefined ? password.toString('base64') : '',
    under,
  });
}

export function tooLong(ttlMs: number, connection: ZookeeperConnection): SetupError {
  const { timeoutMs } = connection.session;
  connection.closeSession();
  return new SetupError(
    `ZooKeeper grants sessions of at most ${timeoutMs} ms, and a lease of ${ttlMs} ms was asked for: use a shorter ttl, or ` +
      'raise "maxSessionTimeout" in zoo.cfg (20 ticks by default, 40 s).',
  );
}

export function parsedAs<S extends z.ZodType>(schema: S, path: string, text: string): z.output<S> {
  try {
    return schema.parse(JSON.parse(text));
  } catch (error) {
    const message = `Expected a lease in the node "${path}" of ZooKeeper, found something else: use another prefix.`;
    throw new ZookeeperError(message, DATA_INCONSISTENCY, { cause: error });
  }
}
