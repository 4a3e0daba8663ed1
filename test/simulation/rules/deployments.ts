import { contentHash, type CatalogEntry, type Declaration } from '@fencepost/ledger/catalog';
import type { Cadence } from '../cadence.js';
import { demand } from './violation.js';

/** A worker process as it is seen from outside. Times are milliseconds of the world. */
export interface KnownPod {
  readonly name: string;
  readonly app: string;
  /** What it declares: of each cron the hash. */
  readonly declared: ReadonlyMap<string, string>;
  /** `null` before the store has numbered it. */
  revision: number | null;
  /** Since when it runs, has declared, and reaches all that it needs for that without any disturbance; `null` when it doesn't. */
  healthySince: number | null;
  /** When the registry may last have heard of it. */
  reachedAt: number;
  /** Since when, and until when, the registry has certainly heard of it at each report. */
  heardSince: number;
  heardAt: number;
}

/** When the stores lost what they knew; -Infinity for never. */
export interface Losses {
  readonly catalog: number;
  readonly registry: number;
}

export interface DeploymentView {
  readonly now: number;
  /** By the store's clock, epoch milliseconds. */
  readonly epochMs: number;
  readonly entries: readonly CatalogEntry[];
  readonly pods: readonly KnownPod[];
  readonly lost: Losses;
  readonly patience: Patience;
}

/** How long everything may take. */
export interface Patience {
  /** Between two looks of a pod, and for what it decides to arrive. */
  readonly tickMs: number;
  /** Between two reports, and between two looks of whoever watches. */
  readonly reportMs: number;
  readonly lookMs: number;
  readonly settleMs: number;
  /** Until a healthy pod has put its definitions in force. */
  readonly declareMs: number;
  /** Until a revision that was perhaps heard no longer decides. */
  readonly gaveWayMs: number;
  readonly removeAfterMs: number;
  /** Beyond that, until a cron that no pod declares is removed or taken over. */
  readonly removedMs: number;
}

/** Of pods, between two of their reports, so that whatever disturbs them is noticed. */
const LOOKS_A_REPORT = 20;

export function patienceOf({ reportMs, declareEveryMs, podGoneMs, declaring }: Cadence): Patience {
  const tickMs = reportMs + declareEveryMs;
  const gaveWayMs = podGoneMs + declaring.settleMs + 2 * tickMs;
  return {
    ...{ tickMs, reportMs, lookMs: reportMs / LOOKS_A_REPORT, gaveWayMs, declareMs: 2 * tickMs },
    ...{ settleMs: declaring.settleMs, removeAfterMs: declaring.removeAfterMs },
    removedMs: gaveWayMs + 2 * tickMs,
  };
}

/** @throws {Violation} for a cron whose definition is not the one that the live pods call for */
export function checkDefinitions(view: DeploymentView): void {
  const { now, lost, patience } = view;
  if (now - Math.max(lost.catalog, lost.registry) < patience.gaveWayMs) return;
  const entries = new Map(view.entries.map((entry) => [entry.definition.name, entry]));
  const wanted = new Set(view.pods.flatMap(({ declared }) => [...declared.keys()]));
  for (const cron of wanted) checkCron(view, cron, entries.get(cron));
  for (const entry of view.entries) checkKept(view, entry);
}

function checkCron(view: DeploymentView, cron: string, entry: CatalogEntry | undefined): void {
  const healthy = healthyPods(view).filter(({ declared }) => declared.has(cron));
  const [any] = healthy;
  if (!any) return;
  demand(entry !== undefined, 'definitions', () => `${any.name} declares ${cron}, which the catalog doesn't have`);
  if (entry.app === null) return;
  if (entry.state === 'removed') return checkRemoved(view, entry, any);
  const own = healthy.filter(({ app }) => app === entry.app);
  const top = newest(own);
  if (top) checkContent(view, entry, top);
  else checkOwner(view, entry, any);
}

/** A cron comes back with the first pod that declares it. */
function checkRemoved({ epochMs, patience }: DeploymentView, entry: CatalogEntry, pod: KnownPod): void {
  const { definition, since, by } = entry;
  const text = () => `${pod.name} declares ${definition.name}, which is removed since ${since} by ${by}`;
  demand(epochMs - since < patience.declareMs, 'definitions', text);
}

/** What is in force is of the newest revision that a pod declares, or of one of which it isn't sure that it is gone. */
function checkContent({ now, pods, patience }: DeploymentView, entry: CatalogEntry, top: KnownPod): void {
  const { name } = entry.definition;
  const perhaps = pods.filter(({ app, revision, declared, reachedAt }) => {
    const isNewer = revision !== null && revision > (top.revision ?? 0);
    return app === entry.app && isNewer && declared.has(name) && now - reachedAt < patience.gaveWayMs;
  });
  const hash = hashOf(entry);
  const isRight = [top, ...perhaps].some(({ declared }) => declared.get(name) === hash);
  demand(isRight, 'definitions', () => {
    const live = [top, ...perhaps].map((pod) => `${pod.name} (${pod.revision})`).join(', ');
    return `${name} is as ${entry.by} has it, revision ${entry.revision}, and ${live} declare it otherwise`;
  });
}

/** A cron belongs to an app that has a pod which declares it. */
function checkOwner(view: DeploymentView, entry: CatalogEntry, other: KnownPod): void {
  const { now, patience } = view;
  const { name } = entry.definition;
  const dueAt = undeclaredSince(view, entry) + patience.removeAfterMs + patience.removedMs;
  const isPatient = now - (other.healthySince ?? now) > patience.removeAfterMs + patience.removedMs;
  const text = () => `${name} belongs to ${entry.app}, which no longer declares it, and ${other.name} waits for it`;
  demand(!isPatient || now < dueAt, 'definitions', text);
}

/** A cron that no pod declares is removed by a pod of its app. */
function checkKept(view: DeploymentView, entry: CatalogEntry): void {
  const { now, patience } = view;
  if (entry.app === null || entry.state === 'removed') return;
  const whole = patience.removeAfterMs + patience.removedMs;
  const others = view.pods.filter(({ app, healthySince }) => app === entry.app && now - (healthySince ?? now) > whole);
  const isOver = now - undeclaredSince(view, entry) > whole;
  const text = () => `${entry.definition.name} is kept although no pod of ${entry.app} has declared it for long`;
  demand(others.length === 0 || !isOver, 'definitions', text);
}

type Moment = Omit<DeploymentView, 'entries'>;

/** @throws {Violation} for a definition that gives way to an older one although a pod of the newer was heard a moment ago */
export function checkReversal({ now, pods, patience, lost }: Moment, entry: CatalogEntry): void {
  const { definition, app, by, revision } = entry;
  if (now - Math.max(lost.registry, lost.catalog) < patience.gaveWayMs) return;
  const since = now - patience.settleMs + 2 * patience.lookMs;
  const heard = heardFrom(pods, { cron: definition.name, app, since, patience });
  const pod = heard.find((one) => (one.revision ?? 0) > (revision ?? 0));
  const text = () =>
    `${by} changed ${definition.name} back while ${pod?.name} was heard ${now - (pod?.heardAt ?? 0)} ms before`;
  demand(pod === undefined, 'definitions', text);
}

/** @throws {Violation} for a cron that a pod was just about to execute */
export function checkRemoval({ now, pods, patience }: Moment, entry: CatalogEntry): void {
  const { definition, app, by } = entry;
  const since = now - patience.removeAfterMs + patience.tickMs;
  const [pod] = heardFrom(pods, { cron: definition.name, app, since, patience });
  const text = () =>
    `${by} removed ${definition.name}, which ${pod?.name} declared ${now - (pod?.heardAt ?? 0)} ms before`;
  demand(pod === undefined, 'definitions', text);
}

/** @throws {Violation} for a cron that was taken from an app while a pod of that declared it */
export function checkTakeover({ now, pods, patience }: Moment, { definition, app, by }: CatalogEntry): void {
  const since = now - patience.removeAfterMs + patience.tickMs;
  const owners = new Set(pods.map((one) => one.app));
  owners.delete(app ?? '');
  for (const owner of owners) {
    const [pod] = heardFrom(pods, { cron: definition.name, app: owner, since, patience });
    const text = () =>
      `${by} took ${definition.name}, which ${pod?.name} declared ${now - (pod?.heardAt ?? 0)} ms before`;
    demand(pod === undefined, 'definitions', text);
  }
}

interface Heard extends Pick<DeploymentView, 'patience'> {
  readonly cron: string;
  readonly app: string | null;
  readonly since: number;
}

/** Pods which declare a cron and which the registry has certainly heard since then: a single report may have got lost. */
function heardFrom(pods: readonly KnownPod[], { cron, app, since, patience }: Heard): KnownPod[] {
  return pods.filter(({ app: own, declared, heardAt, heardSince }) => {
    return own === app && declared.has(cron) && heardAt > since && heardAt - heardSince > 2 * patience.reportMs;
  });
}

/** Those that have had the time to do what they have to. After a loss they have to wait until revisions are gone for sure. */
function healthyPods({ now, pods, lost, patience }: DeploymentView): KnownPod[] {
  const { declareMs, gaveWayMs } = patience;
  const neededMs = lost.registry > -Infinity ? declareMs + gaveWayMs : declareMs;
  return pods.filter(({ healthySince }) => healthySince !== null && now - healthySince >= neededMs);
}

/** Since when no pod of its app declares it, as far as the registry knows. */
function undeclaredSince({ pods, lost }: DeploymentView, { app, definition: { name } }: CatalogEntry): number {
  const declaring = pods.filter((pod) => pod.app === app && pod.declared.has(name));
  return Math.max(lost.registry, lost.catalog, ...declaring.map(({ reachedAt }) => reachedAt));
}

function newest(pods: readonly KnownPod[]): KnownPod | undefined {
  return pods.toSorted((a, b) => (b.revision ?? 0) - (a.revision ?? 0))[0];
}

function hashOf({ definition, state }: CatalogEntry): string {
  return contentHash({ definition, disabled: state === 'disabled' });
}

/** Of each cron of a program. */
export function hashesOf(declarations: readonly Declaration[]): ReadonlyMap<string, string> {
  return new Map(declarations.map((one) => [one.definition.name, contentHash(one)]));
}
