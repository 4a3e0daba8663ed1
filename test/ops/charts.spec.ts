import { CLOSING_MS } from '@fencepost/pod';
import { METRICS } from '@fencepost/operations/metrics';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { render } from '../../scripts/charts/kubectl.mjs';
import { ignoring } from '../../scripts/charts/replay.mjs';
import { againstRules, askedOf, podsOf, podVariables } from '../../scripts/charts/rules.mjs';
import { againstSchemas } from '../../scripts/charts/schemas.mjs';
import { parseDuration } from '@fencepost/lease/internal/options';
import { startSchedulerApp, type RunningApp } from '../support/scheduler-app.js';

const OVERLAYS = ['overlays/production', 'overlays/trial'];
const rendered = Object.fromEntries(OVERLAYS.map((overlay) => [overlay, render(overlay)]));
const all = Object.values(rendered).flat();

const facts = {
  stopsWithinMs: (drainDeadline = '10s') => parseDuration(drainDeadline) + CLOSING_MS,
  variables: podVariables(),
  metrics: new Set(Object.values(METRICS).map(({ name }) => name)),
};

describe('the Kubernetes manifests', () => {
  it('are what the schemas allow', async () => {
    expect(await againstSchemas(all)).toEqual([]);
  });

  it.each(OVERLAYS)('%s keeps our own rules', (overlay) => {
    expect(againstRules(rendered[overlay] ?? [], facts)).toEqual([]);
    expect(podsOf(rendered[overlay] ?? [])).toHaveLength(2);
  });

  it('would be found out otherwise', async () => {
    const [scheduler] = podsOf(structuredClone(all));
    const [container] = scheduler!['spec'].template.spec.containers;
    container.env.push(
      { name: 'FENCEPOST_LEASE_TLL', value: '10s' },
      { name: 'FENCEPOST_DRAIN_DEADLINE', value: '1m' },
    );
    Object.assign(container, {
      image: 'registry:5000/fencepost',
      readinessProb: container.readinessProbe,
      securityContext: {},
    });
    container.livenessProbe.httpGet.port = 'web';
    const trigger = { type: 'prometheus', metadata: { query: 'sum(fencepost_queue_depth)' } };
    const scaled = { kind: 'ScaledObject', spec: { triggers: [trigger] } };
    const told = againstRules([scheduler ?? {}, scaled], facts).join('\n');
    expect(told).toContain('sets FENCEPOST_LEASE_TLL, which no pod reads');
    expect(told).toContain('has 20 s to stop, and its drain deadline needs terminationGracePeriodSeconds: 70');
    expect(told).toContain('may write to its root file system');
    expect(told).toContain('asks port web');
    expect(told).toContain('has an image without a tag');
    expect(told).toContain('has no PodDisruptionBudget');
    expect(told).toContain('fencepost_queue_depth, which no pod serves');
    const worker = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'worker' },
      spec: { replicas: 'two' },
    };
    const unfit = (await againstSchemas([scheduler ?? {}, worker])).join('\n');
    expect(unfit).toContain('readinessProb"\' does not exist');
    expect(unfit).toContain('replicas must be integer');
  });
});

describe('what the manifests ask of a pod', () => {
  let scheduler: RunningApp;
  beforeAll(async () => {
    scheduler = await startSchedulerApp();
  });
  afterAll(() => scheduler.close());

  const asked = [...new Map(askedOf(all).map(({ path, authorized }) => [path, authorized]))];

  it.each(asked)('%s is answered', async (path, authorized) => {
    expect((await scheduler.ask(path, { as: authorized ? 'viewer' : null })).status).toBe(200);
  });
});

describe('the replay of a Dockerfile', () => {
  it('leaves out what .dockerignore names, and takes what it excepts', () => {
    const ignored = ignoring('# a comment\n**/node_modules\ndocs/*\n!docs/openapi.json\ntest\n*.log\n');
    const files = [
      'libs/a/node_modules/b.js',
      'docs/adr/1.md',
      'test/a/b.ts',
      'npm.log',
      'docs/openapi.json',
      'libs/a/npm.log',
    ];
    expect(files.filter((file) => !ignored(file))).toEqual(['docs/openapi.json', 'libs/a/npm.log']);
  });
});
