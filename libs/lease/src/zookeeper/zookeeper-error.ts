import { StoreAwayError } from '../base/errors.js';

/** The codes that are distinguished here: `KeeperException.Code`, https://zookeeper.apache.org/doc/r3.8.4/apidocs/zookeeper-server/ */
/** Something that isn't ours lies in a node: a retry would not help. */
export const DATA_INCONSISTENCY = -3;
export const NO_NODE = -101;
export const BAD_VERSION = -103;
export const NODE_EXISTS = -110;
export const SESSION_EXPIRED = -112;
const CONNECTION_LOSS = -4;
const OPERATION_TIMEOUT = -7;
const SESSION_MOVED = -118;
const REQUEST_TIMEOUT = -122;
const THROTTLED = -127;

const PASSING = new Set([
  CONNECTION_LOSS,
  OPERATION_TIMEOUT,
  SESSION_EXPIRED,
  SESSION_MOVED,
  REQUEST_TIMEOUT,
  THROTTLED,
]);

/** ZooKeeper could not be asked, or it refused. */
export class ZookeeperError extends StoreAwayError {
  readonly code = 'ZOOKEEPER';

  /** @param status ZooKeeper's code for the refusal; none where no answer came */
  constructor(
    message: string,
    readonly status?: number,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** Whether another server, or the same one later, may succeed. */
export function isPassing(error: unknown): error is ZookeeperError {
  return error instanceof ZookeeperError && (error.status === undefined || PASSING.has(error.status));
}
