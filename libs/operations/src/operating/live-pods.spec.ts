import { MemoryPodRegistry } from '@fencepost/jobs/internal/scheduling';
import { ManualClock } from '@fencepost/lease/testing';
import { describe, expect, it } from 'vitest';
import { podCard } from '../../../../test/contracts/pod-registry.contract.js';
import { OperatingStage } from '../../../../test/support/operating-stage.js';
import { readHolders, readLivePods, unreportedText, type LivePodPorts } from './live-pods.js';

const POD = 'pod-a/0123456789';
const OTHER = 'pod-b/0123456789';

async function stage({ settled = true } = {}) {
  const { clock, membership } = new OperatingStage();
  const pods = new MemoryPodRegistry(clock);
  await pods.report(podCard({ pod: 'first/0123456789' }));
  if (settled) await clock.advance(15_000);
  return { clock, membership, pods };
}

const fails = async () => {
  throw new Error('Connection is closed.');
};

describe('readLivePods', () => {
  it('tells pods that report from live processes that do not', async () => {
    const at = await stage();
    await at.pods.report(podCard({ pod: POD }));
    for (const name of [POD, 'former/0123456789']) await at.membership.heartbeat(name);
    await at.membership.announce('worker/0123456789');
    const { pods, unreported } = await readLivePods(at);
    expect(pods.map(({ pod }) => pod)).toEqual([POD]);
    expect(unreported).toEqual(['former/01234567', 'worker/01234567']);
  });

  it('does not know them where the heartbeats cannot be read', async () => {
    const { pods } = await stage();
    expect(await readLivePods({ pods, membership: { processes: fails } })).toMatchObject({ unreported: null });
  });

  it('fails where the reports cannot be read', async () => {
    const { membership } = await stage();
    await expect(readLivePods({ pods: { look: fails }, membership })).rejects.toThrow('Connection is closed.');
  });
});

describe('unreportedText', () => {
  it('names them, and what is unknown', () => {
    expect(unreportedText(['a/1'])).toBe(
      'A live process does not report: a/1. It runs an earlier release without OperationsModule, or started a moment ago, so ' +
        'roles and handlers are unknown.',
    );
    expect(unreportedText(['a/1', 'b/2'])).toMatch(/^2 live processes do not report: a\/1, b\/2\. They run /);
  });
});

describe('readHolders', () => {
  const signOf = async (ports: LivePodPorts, isPod = true) => (await readHolders(ports))(POD, isPod);

  it.each([
    [0, 'live'],
    [8_000, 'live'],
    [8_001, 'silent'],
  ] as const)('finds a holder that reported %i ms ago %s', async (ms, holderState) => {
    const at = await stage();
    await at.pods.report(podCard({ pod: POD }));
    await at.clock.advance(ms);
    expect(await signOf(at)).toEqual({ holderState, holderSilentMs: ms });
    expect(await signOf(at, false)).toEqual({ holderState, holderSilentMs: ms });
  });

  it('finds a holder live that only sends heartbeats, or whose reports have stopped', async () => {
    const at = await stage();
    await at.membership.heartbeat(POD);
    expect(await signOf(at)).toEqual({ holderState: 'live', holderSilentMs: 0 });
    await at.pods.report(podCard({ pod: POD }));
    await at.clock.advance(9_000);
    await at.membership.heartbeat(POD);
    await at.clock.advance(500);
    expect(await signOf(at)).toEqual({ holderState: 'live', holderSilentMs: 500 });
  });

  it('finds a holder gone that neither reports nor sends heartbeats', async () => {
    const at = await stage();
    await at.pods.report(podCard({ pod: OTHER }));
    expect(await signOf(at)).toEqual({ holderState: 'gone', holderSilentMs: null });
  });

  it.each([
    ['it need not be a pod', { settled: true, isPod: false }],
    ['the registry began a moment ago', { settled: false, isPod: true }],
  ])('does not know an absent holder where %s', async (_, { settled, isPod }) => {
    const at = await stage({ settled });
    await at.clock.advance(14_999);
    await at.pods.report(podCard({ pod: OTHER }));
    expect(await signOf(at, isPod)).toEqual({ holderState: 'unknown', holderSilentMs: null });
  });

  it.each([
    ['nobody has reported yet', { pods: new MemoryPodRegistry(new ManualClock()) }],
    ['the reports cannot be read', { pods: { look: fails } }],
    ['the heartbeats cannot be read', { membership: { processes: fails } }],
  ])('does not know an absent holder where %s', async (_, broken) => {
    const at = await stage();
    expect(await signOf({ ...at, ...broken })).toEqual({ holderState: 'unknown', holderSilentMs: null });
  });

  it('still knows what the other source tells', async () => {
    const at = await stage();
    await at.membership.heartbeat(POD);
    await at.pods.report(podCard({ pod: POD }));
    for (const broken of [{ pods: { look: fails } }, { membership: { processes: fails } }]) {
      expect(await signOf({ ...at, ...broken })).toMatchObject({ holderState: 'live' });
    }
  });
});
