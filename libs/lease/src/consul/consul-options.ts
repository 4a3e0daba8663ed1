import { systemClock } from '../base/clock.js';
import type { Clock } from '../base/clock.js';
import { SetupError } from '../base/errors.js';

export interface ConsulOptions {
  /** Addresses of servers or agents, such as `http://10.0.0.1:8500`. Asked in this order, the next one when one fails. */
  readonly endpoints: readonly string[];
  /** How long a call takes at most, over all endpoints and attempts, in milliseconds; default 5000. */
  readonly timeoutMs?: number;
  /** An ACL token with `key:write` below the prefix and `session:write`. */
  readonly token?: string;
  /** Node's own by default. One with a dispatcher of undici brings client certificates. */
  readonly fetch?: typeof globalThis.fetch;
  readonly clock?: Clock;
}

export interface ConsulSettings extends Omit<Required<ConsulOptions>, 'token'> {
  readonly token: string | undefined;
}

const TIMEOUT_MS = 5_000;

/** @throws {SetupError} */
export function consulSettings(options: ConsulOptions): ConsulSettings {
  const { endpoints, timeoutMs = TIMEOUT_MS, token, fetch = globalThis.fetch, clock = systemClock } = options;
  if (endpoints.length === 0) throw new SetupError('Expected at least one address of Consul in "endpoints", got none.');
  if (!Number.isSafeInteger(timeoutMs) || timeoutMs < 1) {
    throw new SetupError(`Expected timeoutMs of Consul as a whole number from 1, got ${timeoutMs}.`);
  }
  return { endpoints: endpoints.map(endpoint), timeoutMs, token, fetch, clock };
}

/** Never repeats the value, which may contain a password. */
function endpoint(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && /^https?:$/.test(url.protocol) && !url.username && !url.password) return url.origin;
  throw new SetupError(
    'Expected the addresses of Consul to look like http://host:8500, without a password: give "token".',
  );
}
