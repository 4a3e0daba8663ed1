import { systemClock } from '../base/clock.js';
import type { Clock } from '../base/clock.js';
import { SetupError } from '../base/errors.js';

export interface EtcdUser {
  readonly name: string;
  readonly password: string;
}

export interface EtcdOptions {
  /** The members' client addresses, such as `http://10.0.0.1:2379`. Asked in this order, the next one when one fails. */
  readonly endpoints: readonly string[];
  /** How long a call takes at most, over all members and attempts, in milliseconds; default 5000. */
  readonly timeoutMs?: number;
  /** Where etcd's authentication is enabled. */
  readonly user?: EtcdUser;
  /** Node's own by default. One with a dispatcher of undici brings client certificates. */
  readonly fetch?: typeof globalThis.fetch;
  readonly clock?: Clock;
}

export interface EtcdSettings extends Omit<Required<EtcdOptions>, 'user'> {
  readonly user: EtcdUser | undefined;
}

const TIMEOUT_MS = 5_000;

/** @throws {SetupError} */
export function etcdSettings(options: EtcdOptions): EtcdSettings {
  const { endpoints, timeoutMs = TIMEOUT_MS, user, fetch = globalThis.fetch, clock = systemClock } = options;
  if (endpoints.length === 0) throw new SetupError('Expected at least one address of etcd in "endpoints", got none.');
  if (!Number.isSafeInteger(timeoutMs) || timeoutMs < 1) {
    throw new SetupError(`Expected timeoutMs of etcd as a whole number from 1, got ${timeoutMs}.`);
  }
  return { endpoints: endpoints.map(endpoint), timeoutMs, user, fetch, clock };
}

/** Never repeats the value, which may contain a password. */
function endpoint(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new SetupError('Expected the addresses of etcd to look like http://host:2379 or https://host:2379.');
  }
  if (url.username || url.password) {
    throw new SetupError(`Expected no password in the address of ${url.host}: give { name, password } as "user".`);
  }
  return url.origin;
}
