import { FencepostError, Leases } from '@fencepost/lease';
import { Election, SingleFlight, type FlightOptions } from '@fencepost/lease/coordination';
import { closeRedis, connectRedis, RedisLeaseStore } from '@fencepost/lease/redis';
import { RedisFencedValues } from '@fencepost/lease/sinks';

/*
 * A process that takes part in a single flight or in an election, as its environment says. It tells on its output what it
 * lives through, and waits in front of gates that a test opens: keys in Redis.
 */
const { REDIS_URL = '', FENCEPOST_PREFIX: prefix = '', POD_NAME: name = '', TASK = '' } = process.env;
const LOOK_AGAIN_MS = 10;

const redis = await connectRedis({
  url: REDIS_URL,
  commandTimeoutMs: 5_000,
  name,
});
const space = { redis, prefix, tenant: 'default' };
const store = new RedisLeaseStore(space);
const leases = new Leases({
  store,
  ttl: process.env['LEASE_TTL'] ?? '10s',
  holder: name,
});

function tell(event: string, more: object = {}): void {
  console.log(JSON.stringify({ event, pod: name, ...more }));
}

async function gate(step: string): Promise<void> {
  while ((await redis.exists(`${prefix}:open:${step}`)) === 0) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
  }
}

async function fly(): Promise<void> {
  const options = JSON.parse(process.env['FLIGHT'] ?? '{}') as FlightOptions;
  const observe = ({ name: event }: { readonly name: string }) => tell(event);
  const cache = new RedisFencedValues({
    ...space,
    collection: 'flights',
    observe,
  });
  const flight = new SingleFlight({ leases, cache });
  const build = async ({ fence }: { readonly fence: number }) => {
    tell('building', { fence });
    await gate(`build-${name}`);
    if (process.env['BUILD'] === 'fails') throw new Error('the build failed');
    return { by: name };
  };
  const call = async () => {
    try {
      tell('got', await flight.get('report', options, build));
    } catch (error) {
      tell('failed', {
        code: error instanceof FencepostError ? error.code : String(error),
      });
    }
  };
  tell('waiting');
  await gate('start');
  const calls = Array.from({ length: Number(process.env['CALLERS'] ?? 1) }, call);
  tell('calling');
  await Promise.all(calls);
}

async function campaign(): Promise<void> {
  const election = new Election({ leases });
  tell('campaigning');
  const leadership = await election.campaign('sweeper');
  leadership.signal.addEventListener('abort', () => tell('not_leading'));
  tell('elected', { fence: leadership.fence });
  await gate(`resign-${name}`);
  tell('resigned', { wasOurs: await leadership.resign() });
}

await (TASK === 'campaign' ? campaign() : fly());
await leases.close();
await closeRedis(redis);
tell('done');
