import type { AppRevision, Revision } from '@fencepost/ledger/catalog';
import type { PodCard, RegistryReading } from '../pods/pod-registry.js';

/** How long revisions without a live pod keep their say. Milliseconds. */
export interface DeclaringTiming {
  /** A revision without a live pod decides for this long: a pod that restarts changes nothing. */
  readonly settleMs: number;
  /** A cron that no live pod of its app declares is kept for this long: a partition must not remove it. */
  readonly removeAfterMs: number;
  /** A process declares again after this long although nothing has changed; default {@link DECLARE_FULLY_MS}. */
  readonly declareFullyMs?: number;
}

export const SETTLE_MS = 10_000;

/** A tombstone is kept for as long as processes declare its cron, and the catalog learns of that once an hour. */
export const DECLARE_FULLY_MS = 30 * 60_000;

/** What the live pods mean for the declarations of one revision. */
export interface Standing {
  /** Revisions of the app that are newer and count, the newest first. */
  readonly newer: readonly Revision[];
  /** Revisions of the app that have a live pod, its own included. */
  readonly live: readonly Revision[];
  /** Revisions of the app that have had a live pod within the time of a removal, its own included: what one declares is kept. */
  readonly recent: readonly Revision[];
  /** Revisions of the app that have been without a live pod for the settle time: they no longer decide. */
  readonly gone: readonly AppRevision[];
  /** Those whose crons may be removed. */
  readonly removable: readonly AppRevision[];
  /** Revisions of other apps whose crons may be taken over. */
  readonly abandoned: readonly AppRevision[];
  /** When time alone makes this standing another one, milliseconds from now. */
  readonly changesInMs: number;
}

export interface StandingInput {
  readonly reading: RegistryReading;
  readonly own: AppRevision;
  /** Revisions of the app, and those of other apps that hold a cron of it. */
  readonly known: readonly AppRevision[];
  /** How long this process has missed a revision that the registry has never heard of. */
  readonly missingMs: (revision: AppRevision) => number;
  readonly timing: DeclaringTiming;
}

/** Pure: who decides follows from who is alive, and from nothing else. */
export function standingOf({ reading, own, known, missingMs, timing }: StandingInput): Standing {
  const { settleMs, removeAfterMs } = timing;
  const heard = absences(reading);
  const others = known.filter((one) => keyOf(one) !== keyOf(own));
  const absent = others.map(({ app, revision }) => {
    const one = { app, revision };
    return { one, isOurs: app === own.app, forMs: heard.get(keyOf(one)) ?? missingMs(one) };
  });
  const ours = absent.filter(({ isOurs }) => isOurs);
  const after = (limitMs: number) => ours.flatMap(({ one, forMs }) => (forMs >= limitMs ? [one] : []));
  const within = (limitMs: number) => ours.flatMap(({ one, forMs }) => (forMs < limitMs ? [one.revision] : []));
  const limits = absent.flatMap(({ forMs, isOurs }) => {
    return forMs === 0 ? [] : [removeAfterMs - forMs, ...(isOurs ? [settleMs - forMs] : [])];
  });
  return {
    newer: within(settleMs)
      .filter((revision) => revision > own.revision)
      .toSorted((a, b) => b - a),
    live: [own.revision, ...within(1)].toSorted((a, b) => b - a),
    recent: [own.revision, ...within(removeAfterMs)],
    gone: after(settleMs),
    removable: after(removeAfterMs),
    abandoned: absent.flatMap(({ one, isOurs, forMs }) => (!isOurs && forMs >= removeAfterMs ? [one] : [])),
    changesInMs: Math.min(...limits.filter((ms) => ms > 0), Infinity),
  };
}

/** The pods of a revision, sorted by identity: the first of them speak for it. */
export function podsOf({ pods }: RegistryReading, { app, revision }: AppRevision): PodCard[] {
  return pods.filter((pod) => pod.app === app && pod.revision === revision);
}

/** The revisions of an app that have had a live pod within a time. */
export function recentRevisions({ now, pods, revisions }: RegistryReading, app: string, withinMs: number): Revision[] {
  const live = pods.flatMap((pod) => (pod.app === app && pod.revision !== null ? [pod.revision] : []));
  const heard = revisions.filter((one) => one.app === app && now - one.seenAt < withinMs);
  return [...new Set([...live, ...heard.map(({ revision }) => revision)])];
}

export function keyOf({ app, revision }: AppRevision): string {
  return `${revision} ${app}`;
}

/** How long each revision has had no live pod, 0 while it has one, milliseconds of the store's clock. */
function absences({ now, pods, revisions }: RegistryReading): ReadonlyMap<string, number> {
  const since = new Map(revisions.map((one) => [keyOf(one), Math.max(1, now - one.seenAt)]));
  for (const { app, revision } of pods) if (revision !== null) since.set(keyOf({ app, revision }), 0);
  return since;
}
