import { describe, expect, it } from 'vitest';
import { RedisFencedValues } from '@fencepost/lease/sinks';
import { useCoordinators } from './coordinators.js';
import type { Pod } from '../support/pod.js';

/*
 * One caller rebuilds a cache entry, over processes that know nothing of each other but the Redis they share. Nobody may
 * wait past its deadline, whatever happens to the builder.
 */
const coordinators = useCoordinators();
const FLIGHT = { TASK: 'flight', FLIGHT: JSON.stringify({ fresh: '1m', wait: '20s' }) };
const SHORT_LEASE = { ...FLIGHT, LEASE_TTL: '1s' };

/** Starts them and lets them call at once, when all are there. */
async function started(names: readonly string[], env: Readonly<Record<string, string>>): Promise<Pod[]> {
  const pods = names.map((name) => coordinators.start(name, env));
  await Promise.all(pods.map((pod) => pod.waitFor('waiting')));
  await coordinators.openGate('start');
  return pods;
}

/** The one that builds, when the others have not begun. */
function builderOf(pods: readonly Pod[]): Promise<Pod> {
  return Promise.any(pods.map(async (pod) => (await pod.waitFor('building')) && pod));
}

async function cached(): Promise<unknown> {
  const { redis, prefix } = coordinators;
  const values = new RedisFencedValues({ redis, prefix, tenant: 'default', collection: 'flights' });
  return JSON.parse((await values.get('report'))?.value ?? 'null');
}

const names = (count: number) => Array.from({ length: count }, (_, n) => `pod-${n}`);
const done = (pods: readonly Pod[]) => Promise.all(pods.map((pod) => pod.waitFor('done')));
const all = (pods: readonly Pod[], event: string) => pods.flatMap((pod) => pod.eventsOf(event));

describe('a single flight over processes', () => {
  it('builds once for ten processes with twenty callers each', async () => {
    const pods = await started(names(10), { ...FLIGHT, CALLERS: '20' });
    const builder = await builderOf(pods);
    await Promise.all(pods.map((pod) => pod.waitFor('calling')));
    await coordinators.openGate(`build-${builder.name}`);
    await done(pods);
    expect(all(pods, 'building')).toHaveLength(1);
    expect(all(pods, 'got').map(({ by }) => by)).toEqual(Array.from({ length: 200 }, () => builder.name));
  });

  it('goes on with another builder when the first one is killed, and nobody is left waiting', async () => {
    const pods = await started(names(3), SHORT_LEASE);
    const builder = await builderOf(pods);
    await builder.kill();
    const left = pods.filter((pod) => pod !== builder);
    const next = await builderOf(left);
    await coordinators.openGate(`build-${next.name}`);
    await done(left);
    expect(all(left, 'building')).toHaveLength(1);
    expect(all(left, 'got').map(({ by }) => by)).toEqual([next.name, next.name]);
  });

  it('lets a builder that was frozen past its lease overwrite nothing, and gives it the newer value', async () => {
    const pods = await started(names(2), SHORT_LEASE);
    const frozen = await builderOf(pods);
    frozen.freeze();
    const other = pods.find((pod) => pod !== frozen)!;
    const { fence } = await other.waitFor('building');
    await coordinators.openGate(`build-${other.name}`);
    await other.waitFor('done');
    expect(await cached()).toEqual({ by: other.name });
    await coordinators.openGate(`build-${frozen.name}`);
    frozen.thaw();
    await frozen.waitFor('fence.rejected');
    expect(await frozen.waitFor('got')).toMatchObject({ by: other.name });
    expect(await cached()).toEqual({ by: other.name });
    expect(fence).toBeGreaterThan(frozen.eventsOf('building')[0]?.['fence'] as number);
    await frozen.waitFor('done');
  });

  it('keeps an error where it was made, caches nothing, and lets another process build', async () => {
    const failing = coordinators.start('failing', { ...FLIGHT, BUILD: 'fails', CALLERS: '3' });
    await failing.waitFor('waiting');
    await coordinators.openGate('start');
    await failing.waitFor('building');
    const next = coordinators.start('next', { ...FLIGHT, CALLERS: '3' });
    await next.waitFor('waiting');
    await Promise.all(['build-failing', 'build-next'].map((step) => coordinators.openGate(step)));
    await done([failing, next]);
    expect(all([failing, next], 'failed').map(({ code }) => code)).toEqual(Array(3).fill('Error: the build failed'));
    expect(all([failing, next], 'got').map(({ by }) => by)).toEqual(['next', 'next', 'next']);
  });

  it('answers with the stale value while one process rebuilds', async () => {
    const options = { ...FLIGHT, FLIGHT: JSON.stringify({ fresh: '1ms', stale: '1m', wait: '20s' }) };
    const [first] = (await started(['first'], options)) as [Pod];
    await coordinators.openGate('build-first');
    await first.waitFor('done');
    const rebuilder = coordinators.start('rebuilder', options);
    await rebuilder.waitFor('building');
    const other = coordinators.start('other', { ...options, CALLERS: '20' });
    await other.waitFor('done');
    expect(other.eventsOf('got').map(({ by }) => by)).toEqual(Array(20).fill('first'));
    expect(other.eventsOf('building')).toEqual([]);
    await coordinators.openGate('build-rebuilder');
    expect(await rebuilder.waitFor('got')).toMatchObject({ by: 'rebuilder' });
    await rebuilder.waitFor('done');
  });

  it('ends a waiting at its deadline while a builder builds on', async () => {
    const slow = (await started(['slow'], FLIGHT))[0]!;
    await slow.waitFor('building');
    const shortened = coordinators.start('hurried', {
      ...FLIGHT,
      FLIGHT: JSON.stringify({ fresh: '1m', wait: '200ms' }),
    });
    expect(await shortened.waitFor('failed')).toMatchObject({ code: 'FLIGHT_TIMEOUT' });
    await coordinators.openGate('build-slow');
    expect(await slow.waitFor('got')).toMatchObject({ by: 'slow' });
    await done([slow, shortened]);
  });
});
