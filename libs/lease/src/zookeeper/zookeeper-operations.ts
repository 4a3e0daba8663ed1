import { BAD_VERSION, NODE_EXISTS, NO_NODE, ZookeeperError } from './zookeeper-error.js';
import type { JuteReader, JuteWriter } from './jute.js';

/** Numbers of `ZooDefs.OpCode`. */
export const OPS = { create: 1, delete: 2, getData: 4, setData: 5, sync: 9, ping: 11, check: 13, multi: 14 } as const;
const ADD_WATCH = 106;
export const AUTHENTICATE = 100;
export const CLOSE_SESSION = -11;

const FAILED = -1;
const EPHEMERAL = 1;
const ALL_PERMISSIONS = 31;
const PERSISTENT_RECURSIVE = 1;

/** Who may use what is created: everybody, or who is authenticated on this connection. */
export type Access = 'world' | 'creator';

/** A request, or a part of a transaction. */
export interface Operation {
  readonly type: number;
  readonly write: (out: JuteWriter) => void;
}

interface NewNode {
  readonly path: string;
  readonly data: string;
  readonly access: Access;
  /** It ends with the session that creates it. */
  readonly ephemeral?: boolean;
}

export function create({ path, data, access, ephemeral = false }: NewNode): Operation {
  const [scheme, id] = access === 'creator' ? ['auth', ''] : ['world', 'anyone'];
  const write = (out: JuteWriter) => {
    out.text(path).bytes(Buffer.from(data));
    out.int(1).int(ALL_PERMISSIONS).text(scheme).text(id);
    out.int(ephemeral ? EPHEMERAL : 0);
  };
  return { type: OPS.create, write };
}

/** Of any version, as `check` of another node decides. */
export function remove(path: string): Operation {
  return { type: OPS.delete, write: (out) => void out.text(path).int(-1) };
}

/** @param version the node's; any by default */
export function setData(path: string, data: string, version = -1): Operation {
  return { type: OPS.setData, write: (out) => void out.text(path).bytes(Buffer.from(data)).int(version) };
}

/** Holds a transaction back unless the node has this version. */
export function check(path: string, version: number): Operation {
  return { type: OPS.check, write: (out) => void out.text(path).int(version) };
}

export function getData(path: string): Operation {
  return { type: OPS.getData, write: (out) => void out.text(path).bool(false) };
}

/** What is read after it on the same connection is at least as new as the leader's state now. */
export function sync(path: string): Operation {
  return { type: OPS.sync, write: (out) => void out.text(path) };
}

export function watchBelow(path: string): Operation {
  return { type: ADD_WATCH, write: (out) => void out.text(path).int(PERSISTENT_RECURSIVE) };
}

/** Ends the session of the connection that it is sent on. */
export const CLOSE: Operation = { type: CLOSE_SESSION, write: () => {} };

/** All of it or nothing. */
export function transaction(operations: readonly Operation[]): Operation {
  const write = (out: JuteWriter) => {
    for (const operation of operations) {
      out.int(operation.type).bool(false).int(-1);
      operation.write(out);
    }
    out.int(-1).bool(true).int(-1);
  };
  return { type: OPS.multi, write };
}

/** A node as it was read. */
export interface Node {
  readonly data: string;
  readonly version: number;
  /** Wall-clock milliseconds of the leader that wrote it last. */
  readonly modifiedAt: number;
  /** The session that it ends with; 0 where it stays. */
  readonly session: bigint;
}

export function readNode(reply: JuteReader): Node {
  const data = reply.text();
  return { data, ...readStat(reply) };
}

/** `Stat`: czxid, mzxid, ctime, mtime, version, cversion, aversion, ephemeralOwner, dataLength, numChildren, pzxid. */
function readStat(reply: JuteReader): Omit<Node, 'data'> {
  reply.skip(24);
  const modifiedAt = Number(reply.long());
  const version = reply.int();
  reply.skip(8);
  const session = reply.long();
  reply.skip(16);
  return { version, modifiedAt, session };
}

const REFUSALS = new Set([NO_NODE, BAD_VERSION, NODE_EXISTS]);

/**
 * @returns `undefined` when a transaction was done; else the code for which nothing was done: something lies there, has
 *   gone, or has changed
 * @throws {ZookeeperError} for every other refusal
 */
export function readTransaction(reply: JuteReader): number | undefined {
  const codes: number[] = [];
  for (;;) {
    const type = reply.int();
    const done = reply.bool();
    reply.int();
    if (done) break;
    if (type === FAILED) codes.push(reply.int());
    else if (type === OPS.create) reply.text();
    else if (type === OPS.setData) readStat(reply);
  }
  // Each operation has a code then: 0 before the one that failed, a generic one behind it.
  const code = codes.find((each) => each !== 0);
  if (code === undefined || REFUSALS.has(code)) return code;
  throw new ZookeeperError(`ZooKeeper refused a transaction with the code ${code}.`, code);
}
