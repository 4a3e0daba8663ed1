import type { Cluster, Redis } from 'ioredis';
import { systemClock } from '../base/clock.js';
import type { Clock } from '../base/clock.js';
import type { RedisClient } from './redis-script.js';
import { factsOfInfo, measureClock, judgeServer } from './server-judgement.js';
import type { ServerFacts, Demands } from './server-judgement.js';
import type { Finding } from '../store/finding.js';

export interface ProbeOptions extends Demands {
  readonly clock?: Clock;
}

/**
 * What the server can't promise; on a cluster, what each primary can't. See {@link judgeServer} for the table.
 *
 * What a managed Redis, an ACL or a renamed command keeps from us is a finding too (`UNCHECKED`) and never a failure, but
 * for INFO: without it nothing is known.
 * @throws what the connection throws when it can't be asked at all
 */
export async function probeRedis(redis: RedisClient, options: ProbeOptions): Promise<Finding[]> {
  const { clock = systemClock } = options;
  const facts = await Promise.all(primaries(redis).map((node) => readServerFacts(node, { clock })));
  return facts.flatMap((one) => judgeServer(one, options));
}

/**
 * What the server says about itself; on a cluster, what each primary does.
 * @throws what the connection throws when it can't be asked at all
 */
export function readServers(redis: RedisClient, clock: Clock = systemClock): Promise<ServerFacts[]> {
  return Promise.all(primaries(redis).map((node) => readServerFacts(node, { clock })));
}

/** The connections to the servers that take writes. */
export function primaries(redis: RedisClient): Redis[] {
  return redis.isCluster ? (redis as Cluster).nodes('master') : [redis as Redis];
}

/** Where a connection goes, for people: a host and a port, never a password. */
export function placeOf({ options }: Redis): string {
  return options.path ?? `${options.host ?? 'localhost'}:${options.port ?? 6379}`;
}

interface Reading {
  readonly clock: Clock;
  /** The server's name in findings; default: its host and port. */
  readonly address?: string;
}

export async function readServerFacts(redis: Redis, { clock, address }: Reading): Promise<ServerFacts> {
  const info = await redis.info();
  const unasked: string[] = [];
  // One by one: Redis 6.2 takes a single name, and of two refusals each is named.
  const snapshots = await setting(redis, 'save', unasked);
  const appendFsync = await setting(redis, 'appendfsync', unasked);
  const offset = await asked('TIME', unasked, () => measureClock(clock, () => redis.time()));
  return {
    address: address ?? placeOf(redis),
    ...factsOfInfo(info),
    ...(snapshots === undefined ? {} : { snapshots }),
    ...(appendFsync === undefined ? {} : { appendFsync }),
    ...(offset === undefined ? {} : { clock: offset }),
    unasked,
  };
}

async function setting(redis: Redis, name: string, unasked: string[]): Promise<string | undefined> {
  const reply = await asked(`CONFIG GET ${name}`, unasked, () => redis.config('GET', name));
  return Array.isArray(reply) && typeof reply[1] === 'string' ? reply[1] : undefined;
}

/** `undefined` when the server refuses the command; a connection that fails is another matter, and thrown. */
async function asked<T>(command: string, unasked: string[], ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof Error && error.name === 'ReplyError')) throw error;
    unasked.push(command);
    return undefined;
  }
}
