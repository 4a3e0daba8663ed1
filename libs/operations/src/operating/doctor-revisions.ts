import type { CatalogEntry } from '@fencepost/ledger/catalog';
import type { DoctorFacts, DoctorFinding, DoctorRule } from './doctor-facts.js';
import { isJustBegun, lately, undeclaredCrons } from './doctor-lookups.js';
import { counted, found, listed, took } from './doctor-words.js';
import { grouped } from './grouped.js';
import type { LiveRevision, Undeclared } from './live-revisions.js';

const DAY_MS = 86_400_000;
/** Two revisions that are live for longer than that are no deployment that rolls. */
const ROLLING_MS = 15 * 60_000;
/** A removal that is due is carried out within seconds. */
const OVERDUE_MS = 60_000;
/** So many names in a finding that is about each of them. */
const MAX_NAMED = 20;

/** Who decides what the crons are. While the pods are unknown, nothing follows from those that are not seen. */
export const REVISION_RULES: readonly DoctorRule[] = [
  (facts) => ofApps(facts, mixedRevisions),
  (facts) => ofApps(facts, superseded),
  (facts) => ofApps(facts, declaredDifferently),
  (facts) => ofApps(facts, appShared),
  nameTaken,
  undeclared,
  removedLately,
  unstableRevisions,
];

/** The live revisions of one app, the newest first. */
interface App {
  readonly app: string;
  readonly revisions: readonly LiveRevision[];
  /** Of the catalog, by name. */
  readonly entries: ReadonlyMap<string, CatalogEntry>;
  readonly now: number;
}

/** Asks a rule about each app of which several revisions are live. */
function ofApps({ live, entries, now }: DoctorFacts, rule: (app: App) => DoctorFinding[]): DoctorFinding[] {
  const apps = [...grouped(live?.revisions ?? [], ({ app }) => app)].filter(([, revisions]) => revisions.length > 1);
  if (apps.length === 0) return [];
  const byName = new Map(entries.map((entry) => [entry.definition.name, entry]));
  return apps.flatMap(([app, revisions]) => rule({ app, revisions, entries: byName, now }));
}

function mixedRevisions({ app, revisions, now }: App): DoctorFinding[] {
  // Two programs under one name never come to one revision.
  if (sharedOf(revisions) !== null) return [];
  const counts = revisions.map(({ revision, pods }) => `${revision} (${counted(pods.length, 'pod')})`);
  const oldest = revisions.map(({ pods }) => Math.min(...pods.map(({ startedAt }) => startedAt)));
  const [, mixedSince = now] = oldest.toSorted((a, b) => a - b);
  const rolls = now - mixedSince < ROLLING_MS;
  const since = rolls ? 'while a deployment rolls' : `for ${took(now - mixedSince)}`;
  const text = `Pods of several revisions of "${app}" are live, ${since}: ${listed(counts)}.`;
  const todo = rolls ? null : 'Finish the deployment, or undo it: "fencepost pods" shows the revision of each pod.';
  return [found(rolls ? 'note' : 'warn', { code: 'MIXED_REVISIONS', subject: app, text, todo })];
}

function superseded({ app, revisions, entries }: App): DoctorFinding[] {
  return revisions.flatMap((older, index) => {
    const newer = revisions.slice(0, index);
    const decided = [...(older.crons ?? [])].flatMap(([name, hash]) => {
      const by = newer.find(({ crons }) => crons?.has(name));
      if (by !== undefined)
        return by.crons?.get(name) === hash ? [] : [{ name, what: `revision ${by.revision} decides` }];
      return entries.get(name)?.state === 'removed' ? [{ name, what: 'removed:' }] : [];
    });
    if (decided.length === 0) return [];
    const parts = Array.from(
      grouped(decided, ({ what }) => what),
      ([what, those]) => {
        return `${what} ${listed(
          those.map(({ name }) => name),
          MAX_NAMED,
        )}`;
      },
    );
    const names = listed(decided.map(({ name }) => name));
    const text = `Live pods of "${app}" revision ${older.revision} declare ${counted(decided.length, 'cron')} otherwise than what is in force: ${parts.join('; ')}.`;
    const todo = `Nothing while a deployment rolls. To return to revision ${older.revision}, stop the last pod of each newer one.`;
    return [found('note', { code: 'SUPERSEDED', subject: names, text, todo })];
  });
}

function declaredDifferently({ app, revisions, entries }: App): DoctorFinding[] {
  return pairsOf(revisions).flatMap(([newer, older]) => {
    const codes = new Set(newer.pods.flatMap(({ code }) => code ?? []));
    if (!older.pods.some(({ code }) => code !== undefined && codes.has(code))) return [];
    const names = [...(older.crons ?? [])].flatMap(([name, hash]) => {
      const other = newer.crons?.get(name);
      return other === undefined || other === hash ? [] : [name];
    });
    const [first] = names;
    if (first === undefined) return [];
    const inForce = entries.get(first)?.revision ?? newer.revision;
    const text = `Pods with the same code declare ${listed(names, MAX_NAMED)} differently: revisions ${older.revision} and ${newer.revision} of "${app}", of which ${inForce} is in force.`;
    const todo =
      'Its schedule depends on configuration or is computed at load: give all pods the same configuration, or write a constant.';
    return [found('warn', { code: 'DECLARED_DIFFERENTLY', subject: listed(names), text, todo })];
  });
}

function appShared({ app, revisions }: App): DoctorFinding[] {
  const shared = sharedOf(revisions);
  if (shared === null) return [];
  const text = `Two programs that have no cron in common declare under the app name "${app}": ${shared.map(briefly).join(' and ')}.`;
  const todo =
    'Give each an app name of its own (FENCEPOST_APP): else the crons of one are removed while it has no live pod.';
  return [found('warn', { code: 'APP_SHARED', subject: app, text, todo })];
}

function briefly({ revision, crons }: LiveRevision): string {
  return `revision ${revision} (${listed([...(crons?.keys() ?? [])])})`;
}

/** The first two revisions that have no cron in common; `null`: there are none. */
function sharedOf(revisions: readonly LiveRevision[]): readonly [LiveRevision, LiveRevision] | null {
  const pair = pairsOf(revisions).find(([{ crons: one }, { crons: other }]) => {
    return (
      one !== null &&
      other !== null &&
      one.size > 0 &&
      other.size > 0 &&
      ![...one.keys()].some((name) => other.has(name))
    );
  });
  return pair ?? null;
}

/** Each newer revision with each older one. */
function pairsOf(revisions: readonly LiveRevision[]): (readonly [newer: LiveRevision, older: LiveRevision])[] {
  return revisions.flatMap((newer, index) => revisions.slice(index + 1).map((older) => [newer, older] as const));
}

function nameTaken({ live, entries }: DoctorFacts): DoctorFinding[] {
  const owners = new Map(
    entries.flatMap((entry) => (entry.state === 'removed' ? [] : [[entry.definition.name, entry]])),
  );
  const taken = (live?.revisions ?? []).flatMap(({ app, crons }) => {
    return [...(crons?.keys() ?? [])].flatMap((name) => {
      const owner = ownerOf(owners.get(name), app);
      return owner === null ? [] : [{ name, app, owner }];
    });
  });
  return Array.from(grouped(taken, ({ app, owner }) => `${app} ${owner}`).values(), (those) => {
    const [{ app, owner } = { app: '', owner: '' }] = those;
    const names = listed([...new Set(those.map(({ name }) => name))]);
    const text = `${names}: belongs to the app "${owner}", which declared it first. Live pods of "${app}" declare it too and run without it.`;
    const todo = `Rename it in one of the two. If it moved to "${app}", stop the pods of "${owner}" that declare it: "${app}" takes it over then.`;
    return found('warn', { code: 'NAME_TAKEN', subject: names, text, todo });
  });
}

/** Former releases added the path of the program to the name of its package. */
function ownerOf(entry: CatalogEntry | undefined, app: string): string | null {
  if (!entry || entry.app === null || entry.app === app) return null;
  return entry.revision === null && entry.app.startsWith(`${app}/`) ? null : entry.app;
}

function undeclared(facts: DoctorFacts): DoctorFinding[] {
  const { live } = facts;
  if (live === null || isJustBegun(facts)) return [];
  return [...grouped(undeclaredCrons(facts), ({ entry }) => entry.app ?? '')].map(([app, those]) => {
    const names = listed(those.map(({ entry }) => entry.definition.name));
    const [first] = those.toSorted((a, b) => (a.removedAt ?? Infinity) - (b.removedAt ?? Infinity));
    const isLate = live.now - (first?.removedAt ?? Infinity) > OVERDUE_MS;
    const text = `No live pod of "${app}" declares ${names}: no worker executes what becomes due. ${untilRemoved(first, live.now)}`;
    const todo = isLate
      ? `Check the log of the live pods of "${app}": they remove such crons every few seconds.`
      : 'If that is not meant, deploy a revision that declares them: then they stay.';
    return found(isLate ? 'warn' : 'note', { code: 'UNDECLARED', subject: names, text, todo });
  });
}

function untilRemoved({ since, removedAt: due }: Undeclared = { since: null, removedAt: null }, now: number): string {
  if (since === null || due === null) return 'They are removed once that has lasted for removeAfter.';
  const after = `removeAfter, ${took(due - since)}`;
  if (now - due > OVERDUE_MS) return `They should have been removed ${took(now - due)} ago (${after}).`;
  return due > now ? `They are removed in ${took(due - now)} (${after}).` : `They are being removed (${after}).`;
}

function removedLately({ entries, now }: DoctorFacts): DoctorFinding[] {
  const removed = entries.filter(({ app, state, by, since }) => {
    return state === 'removed' && app !== null && by.startsWith(`${app} revision `) && now - since < DAY_MS;
  });
  return [...grouped(removed, ({ by }) => by)].map(([by, those]) => {
    const names = listed(those.map(({ definition }) => definition.name));
    const newest = Math.max(...those.map(({ since }) => since));
    const text = `No live pod declared ${names} any more, so ${by} removed ${those.length === 1 ? 'it' : 'them'}, the last ${took(Math.max(0, now - newest))} ago.`;
    const todo = 'If that was not meant, deploy a revision that declares them: they come back with their history.';
    return found('note', { code: 'REMOVED', subject: names, text, todo });
  });
}

function unstableRevisions(facts: DoctorFacts): DoctorFinding[] {
  const told = lately(facts, 'revision.unstable').map(({ detail }) => {
    return `"${String(detail['app'])}" revision ${String(detail['revision'])}`;
  });
  return [...new Set(told)].map((which) => {
    const text = `Pods of ${which} came and went within minutes during the last hour: each start puts its definitions in force again.`;
    const todo =
      'Find out why they exit, such as with "kubectl logs --previous"; "fencepost tail" shows what each start changes.';
    return found('warn', { code: 'UNSTABLE_REVISION', subject: which, text, todo });
  });
}
