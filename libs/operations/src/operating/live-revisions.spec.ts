import { ManualClock } from '@fencepost/lease/testing';
import { contentHash, definitionSet, type Declaration } from '@fencepost/ledger/catalog';
import { MemoryCatalog } from '@fencepost/ledger/memory';
import { MemoryPodRegistry } from '@fencepost/jobs/internal/scheduling';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { podCard } from '../../../../test/contracts/pod-registry.contract.js';
import { declared } from '../../../../test/support/fencepost.js';
import { declarationsOf, LiveRevisions } from './live-revisions.js';

const clock = new ManualClock(Date.UTC(2030, 0, 1));
let catalog: MemoryCatalog;
let registry: MemoryPodRegistry;
let live: LiveRevisions;

beforeEach(() => {
  catalog = new MemoryCatalog(clock);
  registry = new MemoryPodRegistry(clock);
  live = new LiveRevisions({ pods: registry, revisions: catalog.revisions, clock });
});

/** A pod that has declared these crons, as one does when it starts. */
async function pod(name: string, app: string, ...crons: Declaration[]): Promise<number> {
  const revision = await catalog.revisions.enrol(definitionSet({ app }, crons));
  await registry.report(podCard({ pod: `${name}/0`, app, revision }));
  await catalog.declare(crons, { app, revision });
  return revision;
}

async function declarations(cron: string) {
  const [entry] = (await catalog.read([cron])).entries;
  if (!entry) throw new Error(`Expected the cron ${cron}.`);
  return declarationsOf(entry, await live.read());
}

describe('LiveRevisions', () => {
  it('lists the live revisions of each app, the newest first, with their pods and crons', async () => {
    await pod('a', 'shop', declared('mail'));
    await pod('b', 'shop', declared('mail', '0 4 * * *'));
    await pod('c', 'shop', declared('mail', '0 4 * * *'));
    await pod('d', 'billing', declared('invoice'));
    await registry.report(podCard({ pod: 'e/0', app: 'shop', revision: null }));
    const { revisions, pods } = await live.read();
    const shown = revisions.map(({ app, revision, pods: its }) => [app, revision, its.map((one) => one.pod)]);
    expect(shown).toEqual([
      ['billing', 1, ['d/0']],
      ['shop', 2, ['b/0', 'c/0']],
      ['shop', 1, ['a/0']],
    ]);
    expect(revisions[2]?.crons).toEqual(new Map([['mail', contentHash(declared('mail')).slice(0, 8)]]));
    expect(pods).toHaveLength(5);
  });

  it('reads what a revision declares once while it is live', async () => {
    const declaredBy = vi.spyOn(catalog.revisions, 'declaredBy');
    await pod('a', 'shop', declared('mail'));
    await live.read();
    await pod('b', 'shop', declared('mail', '0 4 * * *'));
    await live.read();
    await registry.leave('a/0');
    await live.read();
    await pod('a', 'shop', declared('mail'));
    await live.read();
    expect(declaredBy.mock.calls).toEqual([
      ['shop', [1]],
      ['shop', [2]],
      ['shop', [1]],
    ]);
  });

  it('reads once for everyone to whom a second ago is recent, and again after a failure', async () => {
    const look = vi.spyOn(registry, 'look');
    await Promise.all([live.recent(), live.recent()]);
    await clock.advance(999);
    await live.recent();
    expect(look).toHaveBeenCalledTimes(1);
    await clock.advance(1);
    look.mockRejectedValueOnce(new Error('away'));
    await expect(live.recent()).rejects.toThrow('away');
    await live.recent();
    expect(look).toHaveBeenCalledTimes(3);
  });

  it('says of a revision whose crons are no longer kept that they are unknown', async () => {
    await pod('a', 'shop', declared('mail'));
    vi.spyOn(catalog.revisions, 'declaredBy').mockResolvedValue([null]);
    expect((await live.read()).revisions).toMatchObject([{ app: 'shop', crons: null }]);
    expect((await declarations('mail')).revisions).toMatchObject([{ declares: 'unknown' }]);
  });
});

describe('declarationsOf', () => {
  it('compares what live revisions declare with the definition in force', async () => {
    await pod('a', 'shop', declared('mail'), declared('report'));
    await pod('b', 'shop', declared('mail', '0 4 * * *'));
    await pod('c', 'billing', declared('mail', '0 4 * * *'));
    await pod('d', 'cards', declared('charge'));
    expect(await declarations('mail')).toEqual({
      revisions: [
        { app: 'shop', revision: 2, pods: 1, declares: 'same' },
        { app: 'shop', revision: 1, pods: 1, declares: 'differently' },
        { app: 'billing', revision: 1, pods: 1, declares: 'same' },
      ],
      undeclared: null,
    });
    expect((await declarations('report')).revisions.map(({ declares }) => declares)).toEqual(['not', 'same']);
  });

  it('compares with what a person made of a cron', async () => {
    await pod('a', 'shop', declared('mail'));
    const order = { expected: 1, by: 'ada', reason: null };
    await catalog.put(declared('mail', '0 4 * * *'), order);
    expect((await declarations('mail')).revisions).toMatchObject([{ revision: 1, declares: 'differently' }]);
  });

  it('says since when no live pod declares a cron, and when it is removed', async () => {
    await pod('a', 'shop', declared('mail'), declared('report'));
    const revision = await pod('b', 'shop', declared('mail'));
    expect((await declarations('report')).undeclared).toBeNull();
    await registry.leave('a/0');
    const since = clock.now();
    await clock.advance(1_000);
    await registry.report(podCard({ pod: 'b/0', app: 'shop', revision, removeAfterMs: 3_600_000 }));
    await registry.report(podCard({ pod: 'c/0', app: 'shop', revision, removeAfterMs: 60_000 }));
    await registry.report(podCard({ pod: 'd/0', app: 'billing', removeAfterMs: 1_000 }));
    expect(await declarations('report')).toEqual({
      revisions: [{ app: 'shop', revision: 2, pods: 2, declares: 'not' }],
      undeclared: { since, removedAt: since + 60_000 },
    });
    expect((await declarations('mail')).undeclared).toBeNull();
    registry.wipe();
    await registry.report(podCard({ pod: 'b/0', app: 'shop', revision: 2 }));
    expect((await declarations('report')).undeclared).toEqual({ since: null, removedAt: null });
  });

  it('does not call a cron undeclared while its app has no live pod, or one of a former release may declare it', async () => {
    await pod('a', 'shop', declared('report'));
    await registry.leave('a/0');
    expect((await declarations('report')).undeclared).toBeNull();
    await pod('b', 'shop', declared('mail'));
    expect((await declarations('report')).undeclared).not.toBeNull();
    await registry.report(podCard({ pod: 'old/0', app: 'shop', revision: null, handlers: ['report'] }));
    expect((await declarations('report')).undeclared).toBeNull();
  });
});
