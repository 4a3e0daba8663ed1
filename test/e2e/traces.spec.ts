import { expect, it } from 'vitest';
import { useDeployment } from '../support/deployment.js';
import type { LogLine } from '../support/pod.js';

const TELLING = `--import ${new URL('../dist/pods/tell-spans.js', import.meta.url).href}`;
const deployment = useDeployment({ FENCEPOST_TRACING: 'true', NODE_OPTIONS: TELLING });

/** The span, the one it is in, and so on; whichever process told of them. */
function ancestry(spans: readonly LogLine[], from: LogLine): LogLine[] {
  const parent = spans.find(({ spanId }) => spanId === from['parent']);
  return parent ? [from, ...ancestry(spans, parent)] : [from];
}

it('a run is one trace over the processes that claim it and carry it out', async () => {
  const { pods } = deployment;
  const [worker, scheduler] = await Promise.all([
    pods.worker('worker', { env: { CRONS: 'steps' } }),
    pods.scheduler('scheduler'),
  ]);
  await deployment.fireOnce('steps');
  const { id } = await deployment.onlyRunOf('steps');
  await worker.waitFor('span', ({ name }) => String(name).includes('process'));
  const spans = [...scheduler.eventsOf('span'), ...worker.eventsOf('span')];
  const effects = worker.eventsOf('span').filter(({ name }) => name === 'fencepost.effect');
  expect(effects.map((one) => Reflect.get(Object(one['attributes']), 'fencepost.effect'))).toEqual([
    'first',
    'second',
    'third',
  ]);
  const chains = effects.map((effect) => ancestry(spans, effect));
  for (const chain of chains) {
    expect(chain).toHaveLength(5);
    expect(chain.map(({ traceId }) => traceId)).toEqual(chain.map(() => chain[0]?.['traceId']));
    expect(scheduler.lines).toEqual(expect.arrayContaining(chain.slice(3)));
    expect(worker.lines).toEqual(expect.arrayContaining(chain.slice(0, 3)));
    expect(chain.at(-1)).toMatchObject({
      name: 'fencepost.claim',
      parent: null,
      attributes: { 'fencepost.run_id': id },
    });
  }
  await pods.terminateAll();
});
