import { describe, expect, it } from 'vitest';
import { MetricsStage } from './metrics.stage.js';

describe('the metrics of definitions', () => {
  it('count the crons that each decision is about, from 0 on', async () => {
    const stage = new MetricsStage();
    const of = async (name: string, label: string) => {
      const samples = (await stage.page()).get(name)?.samples ?? [];
      expect(samples.map(({ labels }) => labels['app'])).toEqual(samples.map(() => 'shop'));
      return Object.fromEntries(samples.map(({ labels, value }) => [labels[label], value]));
    };
    const changes = () => of('fencepost_catalog_changes_total', 'change');
    const conflicts = () => of('fencepost_catalog_conflicts_total', 'conflict');
    const none = { created: 0, changed: 0, reverted: 0, restored: 0, taken: 0, removed: 0, redeclared: 0 };
    expect(await changes()).toEqual(none);
    expect(await conflicts()).toEqual({ superseded: 0, foreign: 0, withheld: 0, later: 0, differs: 0, app_shared: 0 });

    const about = { app: 'shop', revision: 3, crons: ['a'], count: 40 };
    stage.telemetry.emit('catalog.created', { ...about, count: 2 });
    stage.telemetry.emit('catalog.changed', about);
    stage.telemetry.emit('catalog.changed', { ...about, count: 1 });
    stage.telemetry.emit('catalog.removed', { ...about, count: 3, removeAfterMs: 1 });
    stage.telemetry.emit('catalog.foreign', { ...about, count: 4, owners: ['billing'] });
    stage.telemetry.emit('catalog.app-shared', { ...about, count: 5, other: 2 });
    expect(await changes()).toEqual({ ...none, created: 2, changed: 41, removed: 3 });
    expect(await conflicts()).toMatchObject({ foreign: 4, app_shared: 5 });
  });

  it('count the live pods of each revision, and those of many revisions as other', async () => {
    const stage = new MetricsStage();
    const card = { roles: ['worker'], clockSkewMs: 0, app: 'shop' } as const;
    stage.cards = [
      ...[1, 2].map((n) => ({ ...card, pod: `a/${n}`, revision: 3 })),
      { ...card, pod: 'b/1', revision: 42.01 },
      { ...card, pod: 'c/1', revision: null },
    ];
    const shown = async () => {
      const samples = (await stage.page()).get('fencepost_revision_pods')?.samples ?? [];
      return samples.map(({ labels, value }) => [labels['app'], labels['revision'], value]);
    };
    expect(await shown()).toEqual([
      ['shop', '3', 2],
      ['shop', '42.01', 1],
    ]);
    stage.cards = Array.from({ length: 130 }, (_, n) => ({ ...card, pod: `d/${n}`, revision: n }));
    expect((await shown()).length).toBe(101);
    expect((await shown()).at(-1)).toEqual(['other', 'other', 30]);
  });
});
