import { ownerPrefix } from '@fencepost/lease/internal';
import type { Role } from '@fencepost/jobs';
import type { PodCard } from '@fencepost/jobs/internal';
import type { DoctorFacts, DoctorFinding, DoctorRule } from './doctor-facts.js';
import { isJustBegun, mayHaveScheduler, mayHaveWorker, workers } from './doctor-lookups.js';
import { counted, found, listed, took } from './doctor-words.js';
import { grouped } from './grouped.js';
import { namesOf, unreportedText } from './live-pods.js';

/** A pod reports every 5 s. */
const SILENT_MS = 8_000;
/** The store's clock decides; a pod's own is only in its logs, and in how it measures. */
const SKEW_MS = 1_000;
const LARGE_SKEW_MS = 10_000;
/** A deployment that rolls for longer than that has stopped half-way. */
const ROLLING_MS = 15 * 60_000;
const SLOW_SWEEP_MS = 60_000;

const START =
  'Start your application with this role (option "roles" of JobsModule), with the Redis, prefix and tenant of this command; ' +
  'its log says why if it exits.';

export const POD_RULES: readonly DoctorRule[] = [
  unreportedPods,
  noScheduler,
  noWorker,
  aloneScheduler,
  ({ pods, now }) => pods.flatMap((pod) => silentPod(pod, now)),
  ({ pods }) => pods.flatMap(skewedPod),
  ({ pods }) => pods.flatMap(shortLease),
  ({ pods }) => pods.flatMap(shortRunLease),
  ({ pods }) => pods.flatMap(slowSweep),
  ({ pods }) => pods.flatMap(latePod),
  differentLedgers,
  mixedVersions,
  mixedZoneData,
  mixedTtls,
  mixedLeases,
  leftOutNodes,
];

function schedulers({ pods }: Pick<DoctorFacts, 'pods'>): PodCard[] {
  return pods.filter(({ roles }) => roles.includes('scheduler'));
}

function fires({ entries }: DoctorFacts): boolean {
  return entries.some(({ state }) => state === 'active');
}

function unreportedPods({ unreported }: DoctorFacts): DoctorFinding[] {
  if (!unreported?.length) return [];
  const names = namesOf(unreported);
  const todo = 'If they are still listed in a minute, update them, so that "fencepost pods" shows them.';
  return [found('note', { code: 'POD_UNREPORTED', subject: listed(names), text: unreportedText(names), todo })];
}

function noScheduler(facts: DoctorFacts): DoctorFinding[] {
  if (!fires(facts) || schedulers(facts).length > 0 || mayHaveScheduler(facts)) return [];
  const { lastHeard, now } = facts;
  const about = { code: 'NO_SCHEDULER', subject: 'schedulers' };
  if (isJustBegun(facts)) return [found('note', { ...about, ...unknownYet('scheduler') })];
  const since = lastHeard === null ? 'and none has ever been' : `the last heartbeat was ${took(now - lastHeard)} ago`;
  return [found('bad', { ...about, text: `No scheduler pod is live, ${since}: no cron fires.`, todo: START })];
}

function noWorker(facts: DoctorFacts): DoctorFinding[] {
  if (!fires(facts) || workers(facts).length > 0 || mayHaveWorker(facts)) return [];
  const about = { code: 'NO_WORKER', subject: 'workers' };
  if (isJustBegun(facts)) return [found('note', { ...about, ...unknownYet('worker') })];
  return [found('bad', { ...about, text: 'No worker pod is live: runs wait in the queue.', todo: START })];
}

function unknownYet(role: Role) {
  const text = `Whether a ${role} pod is live is unknown: the pods lost their registry a moment ago and report again.`;
  return { text, todo: 'Repeat the check in some seconds.' };
}

function aloneScheduler(facts: DoctorFacts): DoctorFinding[] {
  const [one, other] = schedulers(facts);
  if (!one || other || mayHaveScheduler(facts)) return [];
  const text = `Only one scheduler pod is live: if it dies, no cron fires until another pod has started.`;
  const todo = 'Run two or more schedulers; the lease of each cron decides which one acts for it.';
  return [found('note', { code: 'ONE_SCHEDULER', subject: ownerPrefix(one.pod), text, todo })];
}

function silentPod({ pod, seenAt, host, pid }: PodCard, now: number): DoctorFinding[] {
  const silentMs = now - seenAt;
  if (silentMs <= SILENT_MS) return [];
  const text = `It has not reported for ${took(silentMs)} (process ${pid} on ${host}): it is frozen, cut off, or dead.`;
  const todo = `Check its process; "fencepost leases --holder ${labelOf(pod)}" shows what it still holds.`;
  return [found('warn', { code: 'POD_SILENT', subject: ownerPrefix(pod), text, todo })];
}

function skewedPod({ pod, clockSkewMs, rttMs, host }: PodCard): DoctorFinding[] {
  // Half a round trip is how far off the measurement may be.
  const certain = Math.abs(clockSkewMs) - rttMs / 2;
  if (certain <= SKEW_MS) return [];
  const text =
    `The clock of ${host} is ${took(Math.abs(clockSkewMs))} ${clockSkewMs > 0 ? 'ahead of' : 'behind'} the store's. Crons follow ` +
    `the store's clock, but its logs and any handler that reads the time of day do not.`;
  const todo = `Let NTP set the clock of ${host} (check with "chronyc tracking" or "timedatectl").`;
  const level = certain > LARGE_SKEW_MS ? 'bad' : 'warn';
  return [found(level, { code: 'POD_CLOCK', subject: ownerPrefix(pod), text, todo })];
}

/**
 * A renewal is sent after a third of the ttl, and again a twelfth later when it failed; a holder stops with a sixth left. What
 * is left between, two fifths, has to hold the lateness of the event loop and the answer of the store, twice over.
 */
function shortLease({ pod, roles, leaseTtlMs, lagMs, rttMs }: PodCard): DoctorFinding[] {
  const needMs = 2 * (lagMs + rttMs);
  const allowanceMs = 0.4 * leaseTtlMs;
  if (!roles.includes('scheduler') || needMs <= allowanceMs) return [];
  const advised = Math.ceil(needMs / 0.4 / 1_000);
  const text =
    `Its event loop is late by ${took(lagMs)} and the store answers in ${took(rttMs)}, with a lease ttl of ${took(leaseTtlMs)}: ` +
    `renewals come too late, so it loses its leases.`;
  const todo = `Give it more CPU, or set FENCEPOST_LEASE_TTL=${advised}s (leaseTtl of JobsModule) for all pods.`;
  return [
    found(needMs > 2 * allowanceMs ? 'bad' : 'warn', { code: 'LEASE_TTL', subject: ownerPrefix(pod), text, todo }),
  ];
}

/** A worker beats every quarter of the run lease, and lets go when its event loop was blocked for a third. */
function shortRunLease({ pod, roles, runLeaseMs, lagMs, rttMs }: PodCard): DoctorFinding[] {
  if (!roles.includes('worker') || runLeaseMs === undefined || lagMs + rttMs <= runLeaseMs / 6) return [];
  const advised = Math.ceil((6 * (lagMs + rttMs)) / 1_000);
  const text =
    `Its event loop is late by ${took(lagMs)}, with a run lease of ${took(runLeaseMs)}: much more lag, and its attempts are ` +
    `given to another worker while they are still running.`;
  const todo = `Move what blocks into a worker thread, lower FENCEPOST_CONCURRENCY, or set FENCEPOST_RUN_LEASE=${advised}s.`;
  const level = lagMs + rttMs > runLeaseMs / 3 ? 'bad' : 'warn';
  return [found(level, { code: 'RUN_LEASE', subject: ownerPrefix(pod), text, todo })];
}

function slowSweep({ pod, roles, sweepEveryMs }: PodCard): DoctorFinding[] {
  if (!roles.includes('scheduler') || sweepEveryMs === undefined || sweepEveryMs <= SLOW_SWEEP_MS) return [];
  const text = `It looks for stuck runs only every ${took(sweepEveryMs)}: runs of a dead worker wait that long.`;
  const todo = 'Set FENCEPOST_SWEEP_EVERY=5s (sweepEvery of JobsModule), which is the default.';
  return [found('warn', { code: 'SLOW_SWEEP', subject: ownerPrefix(pod), text, todo })];
}

/** A burst drains within seconds; what is late for longer is more than the pod or its store can do. */
const LATE_MS = 10_000;
const VERY_LATE_MS = 60_000;

function latePod({ pod, lateMs = 0, backlog = 0, weight = 1 }: PodCard): DoctorFinding[] {
  if (lateMs <= LATE_MS) return [];
  const sheds = weight < 1 ? ' It has given part of its crons to other pods.' : '';
  const text = `It is behind: ${counted(backlog, 'cron')} due, the oldest for ${took(lateMs)}.${sheds}`;
  const todo =
    'Give it more CPU or start another scheduler; if all pods are behind, the ledger is too slow for the load.';
  const level = lateMs > VERY_LATE_MS ? 'bad' : 'warn';
  return [found(level, { code: 'POD_BEHIND', subject: ownerPrefix(pod), text, todo })];
}

function differentLedgers({ pods, ledger }: DoctorFacts): DoctorFinding[] {
  const others = pods.filter((pod) => pod.ledger !== ledger);
  const [other] = others;
  if (!other) return [];
  const names = listed(others.map(({ pod }) => ownerPrefix(pod)));
  if (others.length < pods.length) {
    const text = `Some pods record runs in ${other.ledger} and others in ${ledger}: one instant may run once in each store.`;
    const todo = 'Set FENCEPOST_LEDGER to the same value for all pods, and restart the wrong ones.';
    return [found('bad', { code: 'MIXED_LEDGERS', subject: names, text, todo })];
  }
  const text = `The pods record runs in ${other.ledger}; this check examined ${ledger}, which has none.`;
  const todo =
    other.ledger === 'postgres'
      ? 'Repeat it with --postgres and the address of their database: fencepost doctor --postgres <url>.'
      : 'Repeat it without --postgres and without FENCEPOST_LEDGER: fencepost doctor.';
  return [found('bad', { code: 'OTHER_LEDGER', subject: names, text, todo })];
}

function mixedVersions({ pods, now }: DoctorFacts): DoctorFinding[] {
  return mixed(pods, { now, code: 'MIXED_VERSIONS', what: 'of this library', valueOf: ({ version }) => version });
}

interface Mix {
  readonly now: number;
  readonly code: string;
  readonly what: string;
  readonly valueOf: (pod: PodCard) => string;
}

/** While a deployment rolls this is as it should be. */
function mixed(pods: readonly PodCard[], { now, code, what, valueOf }: Mix): DoctorFinding[] {
  const byValue = grouped(pods, valueOf);
  if (byValue.size < 2) return [];
  const counts = [...byValue].map(([value, those]) => `${value} (${counted(those.length, 'pod')})`);
  const newest = Math.max(...pods.map(({ startedAt }) => startedAt));
  const rolls = now - newest < ROLLING_MS;
  const text = `There are several versions ${what}: ${listed(counts)}${rolls ? ', while a deployment rolls' : ''}.`;
  const todo = rolls ? null : 'Finish the deployment: "fencepost pods" shows the pods that still run the old version.';
  return [found(rolls ? 'note' : 'warn', { code, subject: `${pods.length} pods`, text, todo })];
}

function mixedZoneData({ pods, entries }: DoctorFacts): DoctorFinding[] {
  const byData = grouped(pods, ({ zoneData }) => zoneData);
  if (byData.size < 2) return [];
  const zoned = entries.filter(({ state, definition }) => state === 'active' && definition.timeZone !== 'UTC');
  const counts = [...byData].map(([data, those]) => `${data} (${counted(those.length, 'pod')})`);
  const about = { code: 'MIXED_ZONE_DATA', subject: `${pods.length} pods` };
  const text = `The pods have several versions of the time zone database: ${listed(counts)}.`;
  if (zoned.length === 0) return [found('note', { ...about, text: `${text} All crons use UTC.`, todo: null })];
  const names = listed(zoned.map(({ definition }) => definition.name));
  const todo = 'Run the same version of Node.js in all pods; "fencepost pods" shows what each has.';
  const where = `Where they differ, the instants of ${names} depend on the pod that holds the lease.`;
  return [found('warn', { ...about, text: `${text} ${where}`, todo })];
}

function mixedTtls(facts: DoctorFacts): DoctorFinding[] {
  const ttls = new Set(schedulers(facts).map(({ leaseTtlMs }) => leaseTtlMs));
  if (ttls.size < 2) return [];
  const text = `The schedulers have different lease ttls: ${listed([...ttls].map(took))}.`;
  const todo = 'Set FENCEPOST_LEASE_TTL (leaseTtl of JobsModule) to the same value for all of them.';
  return [found('note', { code: 'MIXED_TTLS', subject: 'schedulers', text, todo })];
}

function mixedLeases(facts: DoctorFacts): DoctorFinding[] {
  const places = new Set(schedulers(facts).map(({ leases = 'redis' }) => leases));
  if (places.size < 2) return [];
  const text =
    `The schedulers keep the leases of crons in different places: ${listed([...places])}. Each cron has a holder in each of them: ` +
    `no instant is accepted twice, but the holders refuse each other's claims.`;
  const todo = 'Set FENCEPOST_LEASES (leases of JobsModule) to the same value for all of them.';
  return [found('warn', { code: 'MIXED_LEASES', subject: 'schedulers', text, todo })];
}

function leftOutNodes(facts: DoctorFacts): DoctorFinding[] {
  const out = schedulers(facts).flatMap(({ pod, leaseNodes = [] }) =>
    leaseNodes.filter(({ healthy }) => !healthy).map(({ node }) => ({ node, pod })),
  );
  return [...new Set(out.map(({ node }) => node))].map((node) => {
    const by = listed(out.filter((one) => one.node === node).map(({ pod }) => ownerPrefix(pod)));
    const text = `The quorum of the leases does without it: it fails for ${by}. Once a majority is gone, no cron fires.`;
    const todo = 'Start the server, or mend the way to it; pods ask it again by themselves.';
    return found('warn', { code: 'QUORUM_NODE', subject: node, text, todo });
  });
}

function labelOf(pod: string): string {
  return pod.slice(0, Math.max(0, pod.lastIndexOf('/'))) || pod;
}
