import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { NO_FENCE } from '@fencepost/lease';
import type { CronDefinition } from '@fencepost/ledger/catalog';
import type { Deployment } from '../support/deployment.js';
import type { Pod } from '../support/pod.js';
import { readMetrics, valueOf, type Sample } from '../support/prometheus-text.js';
import { until } from '../support/until.js';

/** The page of one pod, as it was at one moment. */
export interface Page {
  readonly instance: string;
  /** Epoch seconds. */
  readonly at: number;
  readonly samples: readonly Sample[];
}

/** The pages of all pods at the moments that alerts are about. */
export type Recording = Readonly<Record<Moment, readonly Page[]>>;

export type Moment =
  | 'no scheduler'
  | 'a cron without a holder'
  | 'well'
  | 'paused'
  | 'failed before the first scrape'
  | 'failed'
  | 'asked'
  | 'missed before the first scrape'
  | 'no worker';

const FOREIGN = 'kept-changed';
const STRICT_GRACE_MS = 2_000;

async function pageOf(pod: Pod): Promise<Page> {
  const response = await fetch(`${pod.url}/metrics`);
  const families = readMetrics(await response.text());
  const samples = [...families.values()].flatMap((family) => family.samples);
  return { instance: pod.name, at: Date.now() / 1_000, samples };
}

const pagesOf = (...pods: readonly Pod[]) => Promise.all(pods.map(pageOf));

/** Looks at the page of a pod until it has the value. */
function shown(pod: Pod, value: number, [name, labels]: readonly [string, Readonly<Record<string, string>>?]) {
  return until(`${name} of ${pod.name} is ${value}`, async () => {
    const response = await fetch(`${pod.url}/metrics`);
    return valueOf(readMetrics(await response.text()), name, labels) === value;
  });
}

/** A cron each second that makes up for nothing. */
function declareStrict({ stores }: Deployment) {
  const definition: CronDefinition = {
    ...{ name: 'strict', expression: '* * * * * *', timeZone: 'UTC', handler: 'echo' },
    ...{ misfire: 'skip', overlap: 'allow', graceMs: STRICT_GRACE_MS, catchUpWindowMs: null },
  };
  return stores.catalog.put({ definition, disabled: false }, { expected: null, by: 'the test', reason: null });
}

/** What real pods show while things go wrong with them. */
export async function recordPods(deployment: Deployment): Promise<Recording> {
  const { pods, stores } = deployment;
  const worker = await pods.worker('worker', { env: { CRONS: 'tick,echo,shown,kept' } });
  const nobodyFires = await pagesOf(worker);
  const held = await withoutHolder(deployment, worker);
  const { scheduler } = held;
  const operator = (cron: string) => stores.operator.trigger(cron, { by: 'the test', reason: 'to record it' });
  const well = await pagesOf(worker, scheduler);
  await stores.operator.pause('kept-paused', { by: 'the test', reason: 'to record it' });
  const paused = await until('the pause is shown', async () => {
    const pages = await pagesOf(worker, scheduler);
    const awaited = pages.flatMap(({ samples }) => samples).filter(({ name }) => name.includes('success_awaited'));
    return !awaited.some(({ labels }) => labels['cron'] === 'kept-paused') && pages;
  });
  // Nobody has scraped this one when it fails.
  const young = await pods.worker('young', { env: { CRONS: 'shown' } });
  await worker.terminate();
  await operator('failing');
  await young.waitFor('attempt_failed');
  const first = await pagesOf(young);
  await shown(scheduler, 1, ['fencepost_consecutive_failures', { cron: 'failing' }]);
  const failed = await pagesOf(scheduler);
  await operator('asking');
  await shown(scheduler, 1, ['fencepost_uncertain_runs', { cron: 'asking' }]);
  const asked = await pagesOf(young, scheduler);
  await young.terminate();
  await shown(scheduler, 0, ['fencepost_pods', { role: 'worker' }]);
  const noWorker = await pagesOf(scheduler);
  return {
    ...{ 'no scheduler': nobodyFires, 'a cron without a holder': held.pages, well, paused },
    ...{ 'failed before the first scrape': first, failed, asked, 'no worker': noWorker },
    'missed before the first scrape': await missedAtBoot(deployment, scheduler),
  };
}

/** A scheduler, and one cron whose lease somebody has who fires nothing. */
async function withoutHolder(deployment: Deployment, worker: Pod) {
  const { pods, stores } = deployment;
  const term = { resource: FOREIGN, holder: `nobody/${randomUUID()}`, nonce: randomUUID() };
  await stores.leases.acquire({ ...term, ttlMs: 60_000, floor: NO_FENCE });
  const scheduler = await pods.scheduler('scheduler');
  await shown(scheduler, 1, ['fencepost_cron_lease_held', { cron: 'tick' }]);
  const pages = await pagesOf(worker, scheduler);
  const [holding] = await stores.leases.inspect([FOREIGN]);
  if (!holding) throw new Error(`Expected ${FOREIGN} to be held by nobody's pod.`);
  await stores.leases.evict(FOREIGN, holding.fence);
  await shown(scheduler, 1, ['fencepost_cron_lease_held', { cron: FOREIGN }]);
  // What came due before a scheduler was there would be missed.
  await declareStrict(deployment);
  await scheduler.waitFor('occurrence_claimed', (line) => line['cron'] === 'strict');
  await shown(scheduler, 1, ['fencepost_cron_lease_held', { cron: 'strict' }]);
  return { pages, scheduler };
}

/** No scheduler is there for longer than the grace of a cron: the next one counts what was missed before anybody asks it. */
async function missedAtBoot({ pods }: Deployment, scheduler: Pod): Promise<readonly Page[]> {
  await scheduler.terminate();
  const missedAt = Date.now() + 2_000 + STRICT_GRACE_MS;
  await until('an instant and its grace have passed', async () => Date.now() > missedAt);
  const next = await pods.scheduler('next-scheduler');
  await next.waitFor('occurrence_passed', (line) => line['cron'] === 'strict');
  const pages = await pagesOf(next);
  await next.terminate();
  return pages;
}

/** The checker of Prometheus, the rules that it loads, and where the test may be written. */
interface RuleTest {
  readonly promtool: string;
  readonly rules: string;
  readonly file: string;
}

/** What `promtool` prints of a test with one step a minute. */
export async function testRules({ promtool, rules, file }: RuleTest, test: object): Promise<string> {
  const tests = { rule_files: [rules], evaluation_interval: '1m', tests: [{ interval: '1m', ...test }] };
  await writeFile(file, JSON.stringify(tests));
  const said = await promisify(execFile)(promtool, ['test', 'rules', file]).catch((error: unknown) => error);
  return `${Reflect.get(Object(said), 'stdout')}${Reflect.get(Object(said), 'stderr')}`;
}

/** At which minutes a test found something else than it expects. */
export function minutesIn(text: string): number[] {
  const found = [...text.matchAll(/expr: .*, time: (?:(\d+)h)?(?:(\d+)m)?(?:\d+s)?/g)];
  if (found.length === 0 && !text.includes('SUCCESS')) throw new Error(text);
  return found.map(([, hours = '0', minute = '0']) => Number(hours) * 60 + Number(minute));
}
