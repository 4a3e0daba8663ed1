import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import { systemClock } from '@fencepost/lease';
import { sleep } from '@fencepost/lease/internal';
import { until } from '../../support/until.js';
import type { ChaosRedis } from '../chaos-redis.js';
import { between } from '../draw.js';
import type { Fault } from '../fault.js';

/** Servers of which one has the last word, and which choose another one when it is gone. */
export interface Succession {
  /** For the kinds' names, such as `sentinel`. */
  readonly name: string;
  /** The server that is in charge now of what is looked at. */
  primary(random: () => number): Promise<ChaosRedis>;
  /** Whether another one is in charge of what this one was. */
  isReplaced(server: ChaosRedis): Promise<boolean>;
  /** What was in charge works again, and is to follow. */
  rejoin(server: ChaosRedis): Promise<void>;
}

/** Nothing starts while nobody is in charge, which is for some seconds each time. */
export const SUCCESSION_PAUSE_MS = { least: 1_500, most: 3_500 };

const SUCCESSION_MS = 20_000;
const LOOK_MS = 50;
const LOSING_MS = { least: 300, most: 1_000 };
const LOOK_WITHIN_MS = 2_000;

interface Blow {
  readonly hit: (server: ChaosRedis) => unknown;
  readonly mend: (server: ChaosRedis) => unknown;
}

const KILLED: Blow = { hit: (server) => server.kill(), mend: (server) => server.restart() };
const FROZEN: Blow = { hit: (server) => server.freeze(), mend: (server) => server.thaw() };

/** A primary that is gone for longer than those who watch it have patience. */
export function failoverFaults(succession: Succession): Fault[] {
  const strike = (kind: string, blow: Blow): Fault => ({
    ...{ kind: `${succession.name}-primary-${kind}`, target: 'store' },
    strike: async (random, signal) => {
      const primary = await inCharge(succession, random);
      return primary !== undefined && failOver(succession, primary, { blow, signal });
    },
  });
  return [strike('killed', KILLED), strike('frozen', FROZEN)];
}

/** One that acknowledges what no replica gets, and is then replaced by one of them: what it acknowledged is lost. */
export function lossyFailover(succession: Succession): Fault {
  return {
    ...{ kind: `${succession.name}-writes-lost`, target: 'store' },
    strike: async (random, signal) => {
      const primary = await inCharge(succession, random);
      const mark = `mark-${randomUUID()}`;
      if (!primary || !(await withoutReplicas(primary, mark))) return false;
      await sleep(systemClock, between(LOSING_MS, random), signal);
      // Who may do what is not kept on its disk.
      const isReplaced = await failOver(succession, primary, { blow: KILLED, signal });
      if (!isReplaced) return false;
      const next = await inCharge(succession, random);
      return next !== undefined && (await next.ask((redis) => redis.exists(mark)).catch(() => 1)) === 0;
    },
  };
}

/** Until a server has what its primary has. */
export async function follows(server: ChaosRedis): Promise<void> {
  const isLinked = async () => (await server.ask((redis) => redis.info('replication'))).includes('link_status:up');
  await until('a server follows its primary', () => isLinked().catch(() => false));
}

/** On a busy machine nobody may say in time who is in charge. */
function inCharge(succession: Succession, random: () => number): Promise<ChaosRedis | undefined> {
  return succession.primary(random).catch(() => undefined);
}

/** Its replicas are thrown out and may not come back; what is written from now on is nowhere else. */
async function withoutReplicas(primary: ChaosRedis, mark: string): Promise<boolean> {
  const may = (redis: Redis, ...what: string[]) => redis.call('ACL', 'SETUSER', 'default', ...what);
  try {
    await primary.ask(async (redis) => {
      await may(redis, '-psync', '-sync');
      await redis.call('CLIENT', 'KILL', 'TYPE', 'REPLICA');
      await redis.set(mark, '');
    });
    return true;
  } catch {
    await primary.ask((redis) => may(redis, '+psync', '+sync')).catch(() => {});
    return false;
  }
}

interface Failing {
  readonly blow: Blow;
  readonly signal: AbortSignal;
}

async function failOver(succession: Succession, primary: ChaosRedis, { blow, signal }: Failing): Promise<boolean> {
  await blow.hit(primary);
  let done = false;
  const deadline = performance.now() + SUCCESSION_MS;
  while (!done && !signal.aborted && performance.now() < deadline) {
    await sleep(systemClock, LOOK_MS, signal);
    done = await inTime(succession.isReplaced(primary));
  }
  await blow.mend(primary);
  // Where it takes too long the next blow finds nobody who could succeed, and isn't counted.
  if (done) await succession.rejoin(primary).catch(() => {});
  return done;
}

/** A server that is asked may be one that does not answer. */
async function inTime(answer: Promise<boolean>): Promise<boolean> {
  const late = new AbortController();
  const silence = sleep(systemClock, LOOK_WITHIN_MS, late.signal).then(() => false);
  const known = await Promise.race([answer.catch(() => false), silence]);
  late.abort();
  return known;
}
