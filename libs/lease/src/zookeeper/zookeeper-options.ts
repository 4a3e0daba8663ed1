import { connect as connectTcp } from 'node:net';
import type { Socket } from 'node:net';
import { systemClock } from '../base/clock.js';
import type { Clock } from '../base/clock.js';
import { SetupError } from '../base/errors.js';

/** The scheme `digest` of ZooKeeper. */
export interface ZookeeperUser {
  readonly name: string;
  readonly password: string;
}

export interface ZookeeperOptions {
  /** The ensemble's client addresses, such as `10.0.0.1:2181`. Asked in this order, the next one when one fails. */
  readonly servers: readonly string[];
  /** How long a call takes at most, over all servers and attempts, in milliseconds; default 5000. */
  readonly timeoutMs?: number;
  /** Nodes are created for this user alone, instead of for everybody. */
  readonly user?: ZookeeperUser;
  /** Opens a connection; plain TCP by default. `tls.connect` of Node brings TLS and client certificates. */
  readonly connect?: (address: { readonly host: string; readonly port: number }) => Socket;
  readonly clock?: Clock;
}

export interface ServerAddress {
  readonly host: string;
  readonly port: number;
}

export interface ZookeeperSettings extends Omit<Required<ZookeeperOptions>, 'user' | 'servers'> {
  readonly servers: readonly ServerAddress[];
  readonly user: ZookeeperUser | undefined;
}

const TIMEOUT_MS = 5_000;
const DEFAULT_PORT = 2181;

/** @throws {SetupError} */
export function zookeeperSettings(options: ZookeeperOptions): ZookeeperSettings {
  const { servers, timeoutMs = TIMEOUT_MS, user, connect = connectTcp, clock = systemClock } = options;
  if (servers.length === 0) throw new SetupError('Expected at least one address of ZooKeeper in "servers", got none.');
  if (!Number.isSafeInteger(timeoutMs) || timeoutMs < 1) {
    throw new SetupError(`Expected timeoutMs of ZooKeeper as a whole number from 1, got ${timeoutMs}.`);
  }
  return { servers: servers.map(address), timeoutMs, user, connect, clock };
}

function address(text: string): ServerAddress {
  const url = URL.canParse(`tcp://${text}`) ? new URL(`tcp://${text}`) : undefined;
  if (!url || url.host === '' || url.username || url.pathname.length > 1 || text.includes('://')) {
    throw new SetupError('Expected the addresses of ZooKeeper to look like host:2181, one in each string.');
  }
  return { host: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port || DEFAULT_PORT) };
}
