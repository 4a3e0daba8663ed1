import { isRedisUrl, redactUrl } from '@fencepost/lease';
import type { Command } from 'commander';
import { UsageError } from '../exit.js';
import type { World } from '../world.js';

/** As they stand on the command line. */
export interface StoreFlags {
  readonly redis?: string;
  readonly prefix?: string;
  readonly tenant?: string;
}

export interface StoreAddress {
  readonly url: string;
  readonly prefix: string;
  /** `null`: nobody named one. */
  readonly tenant: string | null;
}

const ANY = 'else "default", or the only one that has crons';

export function withStoreOptions(command: Command): Command {
  return command
    .option('--redis <url>', 'where the crons are (else REDIS_URL, else redis://localhost:6379)')
    .option('--prefix <name>', 'first part of all keys (else FENCEPOST_PREFIX, else fencepost)')
    .option('--tenant <name>', `whose crons (else FENCEPOST_TENANT, ${ANY})`);
}

/** @throws {UsageError} */
export function storeAddress({ redis, prefix, tenant }: StoreFlags, { env }: Pick<World, 'env'>): StoreAddress {
  // An empty variable is none: that is how a shell and a compose file leave one out.
  const url = redis ?? (env['REDIS_URL'] || 'redis://localhost:6379');
  if (!isRedisUrl(url)) {
    throw new UsageError(
      `Expected --redis (or REDIS_URL) to be a redis:// or rediss:// address, got "${redactUrl(url)}".`,
    );
  }
  return {
    url,
    prefix: prefix ?? (env['FENCEPOST_PREFIX'] || 'fencepost'),
    tenant: tenant ?? (env['FENCEPOST_TENANT'] || null),
  };
}
