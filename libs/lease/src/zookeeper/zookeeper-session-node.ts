import { z } from 'zod';
import type { Term } from '../store/grant.js';
import type { Session as OwnSession } from '../store/lease-sessions.js';
import type { ZookeeperServer } from './zookeeper-client.js';
import { NEW_SESSION } from './zookeeper-connection.js';
import type { Session } from './zookeeper-connection.js';
import { CLOSE, create, readTransaction, setData, transaction } from './zookeeper-operations.js';
import type { Access, Node, Operation } from './zookeeper-operations.js';
import { NO_NODE, SESSION_EXPIRED, ZookeeperError } from './zookeeper-error.js';
import { parsedAs, tooLong } from './zookeeper-term.js';

/** A session as it lies in its node, which ends with it. */
export interface StoredSession {
  /** ZooKeeper's own. */
  readonly session: Session;
  readonly holder: string;
  /** Terms that were taken from it, the latest last. */
  readonly revoked: readonly Term[];
  readonly version: number;
  readonly modifiedAt: number;
}

type Value = Pick<StoredSession, 'holder' | 'revoked'>;

const value = z.object({
  holder: z.string(),
  timeoutMs: z.number(),
  password: z.string(),
  revoked: z.array(z.object({ resource: z.string(), nonce: z.string() })),
});

/** A node holds up to 1 MB. What doesn't fit is a hint that got lost. */
const MAX_REVOKED = 1_000;

/** @throws {ZookeeperError} when something else lies there */
export function readSession(path: string, node: Node | undefined): StoredSession | undefined {
  if (!node) return undefined;
  const { password, timeoutMs, ...rest } = parsedAs(value, path, node.data);
  const session = { id: node.session, password: Buffer.from(password, 'base64'), timeoutMs };
  return { ...rest, session, version: node.version, modifiedAt: node.modifiedAt };
}

/**
 * Opens a session of ZooKeeper and makes its node.
 * @returns `undefined` when it was done; else the code for which nothing was
 * @throws {SetupError} for a ttl longer than ZooKeeper grants
 */
export function openIn(
  server: ZookeeperServer,
  { path, asked, access }: { path: string; asked: OwnSession; access: Access },
): Promise<number | undefined> {
  return server.inSession({ ...NEW_SESSION, timeoutMs: asked.ttlMs }, async (connection) => {
    if (connection.session.timeoutMs < asked.ttlMs) throw tooLong(asked.ttlMs, connection);
    const data = write({ holder: asked.holder, revoked: [] }, connection.session);
    const made = create({ path, data, access, ephemeral: true });
    const refused = await connection.request(transaction([made]), readTransaction);
    if (refused !== undefined) connection.closeSession();
    return refused;
  });
}

/**
 * Counts the session anew, has a majority confirm that it is still there, and drops what was acknowledged. `touch` of a term
 * says why both have to come on one connection.
 * @returns what else was taken from it; `undefined` when it is over; the code for which nothing was done: it has changed
 */
export function renewIn(
  server: ZookeeperServer,
  path: string,
  { found, acknowledged }: { found: StoredSession; acknowledged: readonly Term[] },
): Promise<readonly Term[] | number | undefined> {
  const known = new Set(acknowledged.map(keyOf));
  const revoked = found.revoked.filter((term) => !known.has(keyOf(term)));
  const written = setData(path, write({ ...found, revoked }, found.session), found.version);
  const renewing = server.inSession(found.session, async (connection) => {
    const refused = await connection.request(transaction([written]), readTransaction);
    return refused === NO_NODE ? undefined : (refused ?? revoked);
  });
  return unlessExpired(renewing, undefined);
}

/** Notes for the session that a term was taken from it, if the session hasn't been written since it was read. */
export function note(path: string, found: StoredSession, taken: Term): Operation {
  const others = found.revoked.filter(({ resource }) => resource !== taken.resource);
  const revoked = [...others, taken].slice(-MAX_REVOKED);
  return setData(path, write({ ...found, revoked }, found.session), found.version);
}

/**
 * Ends a session of ZooKeeper, and whatever is bound to it.
 * @returns `false` when it was over
 */
export function closeIn(server: ZookeeperServer, session: Session): Promise<boolean> {
  return unlessExpired(
    server.inSession(session, async (connection) => {
      await connection.request(CLOSE, () => {});
      return true;
    }),
    false,
  );
}

/** What stands for the result when ZooKeeper says that the session is over. */
export async function unlessExpired<T>(asking: Promise<T>, over: T): Promise<T> {
  try {
    return await asking;
  } catch (error) {
    if (error instanceof ZookeeperError && error.status === SESSION_EXPIRED) return over;
    throw error;
  }
}

function write({ holder, revoked }: Value, { password, timeoutMs }: Session): string {
  return JSON.stringify({ holder, timeoutMs, password: password.toString('base64'), revoked });
}

function keyOf({ resource, nonce }: Term): string {
  return JSON.stringify([resource, nonce]);
}
