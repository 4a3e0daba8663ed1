import type { CatalogEntry } from '@fencepost/ledger/catalog';
import { isTerminal } from '@fencepost/ledger/run';
import type { CronOverview } from './cron-overview.js';
import type { DoctorFacts, DoctorFinding, DoctorRule } from './doctor-facts.js';
import { isJustBegun, lately, mayHaveScheduler, mayHaveWorker, undeclaredCrons, workers } from './doctor-lookups.js';
import { isStoreAtFault } from './doctor-standstills.js';
import { counted, found, listed, took } from './doctor-words.js';
import { grouped } from './grouped.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** A person may be asleep; after a day nobody is coming. */
const WAITED_LONG_MS = 15 * MINUTE_MS;
const OVERDUE_MS = 30_000;
const PAUSED_LONG_MS = 7 * DAY_MS;
const FEW_LOSSES = 3;

export const CRON_RULES: readonly DoctorRule[] = [
  noHandler,
  orphaned,
  waitingRuns,
  uncertainRuns,
  lateCrons,
  forgottenPauses,
  foreignZoneData,
  unreadableRecords,
  unreadableSchedules,
  lostLeases,
  refusedClaims,
];

/** A cron that no program of the live pods has declared, and which declared it, is another matter than one nobody can carry out. */
function isOrphan({ app }: CatalogEntry, apps: ReadonlySet<string>): boolean {
  return app !== null && !apps.has(app);
}

function appsOf(facts: DoctorFacts): ReadonlySet<string> {
  return new Set(workers(facts).map(({ app }) => app));
}

function active({ entries }: DoctorFacts): CatalogEntry[] {
  return entries.filter(({ state }) => state === 'active');
}

function noHandler(facts: DoctorFacts): DoctorFinding[] {
  const alive = workers(facts);
  // One that has just started has no handlers yet.
  const isStarting = alive.some(({ concurrency }) => concurrency === null);
  if (alive.length === 0 || isStarting || mayHaveWorker(facts) || isJustBegun(facts)) return [];
  const known = new Set(alive.flatMap(({ handlers }) => handlers));
  const apps = appsOf(facts);
  const kept = new Set(undeclaredCrons(facts).map(({ entry }) => entry));
  const without = active(facts).filter((entry) => {
    return !isOrphan(entry, apps) && !known.has(handlerOf(entry)) && !kept.has(entry);
  });
  if (without.length === 0) return [];
  const names = listed(without.map(({ definition }) => definition.name));
  const handlers = [...new Set(without.map((entry) => `"${handlerOf(entry)}"`))];
  const text = `No live worker has the handler${handlers.length === 1 ? '' : 's'} ${listed(handlers)}: the runs of ${names} wait.`;
  const todo = `Start a worker with ${handlers.length === 1 ? 'it' : 'them'}, or remove these crons: fencepost remove ${nameOf(without)} --reason <words>.`;
  return [found('bad', { code: 'NO_CAPABLE_WORKER', subject: names, text, todo })];
}

function orphaned(facts: DoctorFacts): DoctorFinding[] {
  const apps = appsOf(facts);
  if (apps.size === 0 || mayHaveWorker(facts) || isJustBegun(facts)) return [];
  const orphans = active(facts).filter((entry) => isOrphan(entry, apps));
  return [...grouped(orphans, ({ app }) => app ?? '')].map(([app, entries]) => {
    const names = listed(entries.map(({ definition }) => definition.name));
    const text = `No live worker runs the app "${app}", which declared ${names}: they fire, but no worker executes their runs.`;
    const todo = `Start a worker of "${app}", or, if it no longer exists: fencepost remove ${nameOf(entries)} --reason <words>.`;
    return found('warn', { code: 'ORPHANED', subject: names, text, todo });
  });
}

/** The newest run waits, or was skipped because an older one does. */
function waitsForHandler({ name, last }: CronOverview, { outcomes }: DoctorFacts): boolean {
  if (last?.waiting !== 'no-capable-worker') return false;
  if (!isTerminal(last.state)) return true;
  const runs = outcomes.looked.find(({ cron }) => cron === name)?.runs ?? [];
  return last.skipped === 'no-capable-worker' && !runs.some(({ attemptedAt }) => (attemptedAt ?? 0) > last.claimedAt);
}

function waitingRuns(facts: DoctorFacts): DoctorFinding[] {
  const waiting = facts.crons.filter((cron) => waitsForHandler(cron, facts));
  if (waiting.length === 0) return [];
  const names = listed(waiting.map(({ name }) => name));
  const text = `${counted(waiting.length, 'cron has a run', 'crons have runs')} that no worker has been able to execute: ${names}.`;
  const todo = 'Start workers with these handlers; "fencepost pods --json" lists the handlers of each worker.';
  return [found('warn', { code: 'RUNS_WAIT', subject: names, text, todo })];
}

function uncertainRuns({ uncertain, now }: DoctorFacts): DoctorFinding[] {
  const oldest = uncertain.toSorted((a, b) => sinceOf(a.unresolvedEffect, now) - sinceOf(b.unresolvedEffect, now))[0];
  if (!oldest) return [];
  const waitedMs = now - sinceOf(oldest.unresolvedEffect, now);
  const many = uncertain.length === 1 ? 'A run waits' : `${uncertain.length} runs wait`;
  const text = `${many} for a person to say whether an effect has happened, since ${took(waitedMs)}: the oldest is ${oldest.id}.`;
  const todo = `"fencepost uncertain" shows each unresolved effect; then: fencepost resolve ${oldest.id} --answer done|not-done|give-up --reason <words>.`;
  const level = waitedMs > DAY_MS ? 'bad' : waitedMs > WAITED_LONG_MS ? 'warn' : 'note';
  return [found(level, { code: 'UNCERTAIN', subject: oldest.id, text, todo })];
}

function sinceOf(unresolvedEffect: { readonly since: number } | null, now: number): number {
  return unresolvedEffect?.since ?? now;
}

function lateCrons(facts: DoctorFacts): DoctorFinding[] {
  const { redis, crons, pods } = facts;
  // Without any scheduler all of them are late, and that is told.
  const reported = pods.some(({ roles }) => roles.includes('scheduler'));
  if (!reported && !mayHaveScheduler(facts)) return [];
  const fires = new Set(crons.filter(({ state, paused }) => state === 'active' && !paused).map(({ name }) => name));
  const late = (redis?.late ?? []).filter(({ cron, overdueMs }) => overdueMs > OVERDUE_MS && fires.has(cron));
  const [worst] = late;
  if (!worst) return [];
  const names = listed(late.map(({ cron }) => cron));
  const text = `${counted(late.length, 'cron is', 'crons are')} overdue${reported ? ' although schedulers are live' : ''}: ${names}, by up to ${took(worst.overdueMs)}.`;
  const todo = `fencepost leases --cron ${worst.cron} shows the holder; if it is dead: fencepost leases clear ${worst.cron} --reason <words>.`;
  return [found('bad', { code: 'OVERDUE', subject: names, text, todo })];
}

function forgottenPauses({ crons, now }: DoctorFacts): DoctorFinding[] {
  const paused = crons.filter((cron) => cron.paused?.until === null && now - cron.paused.since > PAUSED_LONG_MS);
  const [first] = paused;
  if (!first) return [];
  const names = listed(paused.map(({ name }) => name));
  const text = `${counted(paused.length, 'cron is', 'crons are')} paused without an end date for more than a week: ${names}.`;
  const todo = `To end a pause: fencepost resume ${first.name} --reason <words>.`;
  return [found('note', { code: 'PAUSED_LONG', subject: names, text, todo })];
}

/** The one whose declaration was accepted computed the first instants; those who hold it compute the next ones. */
function foreignZoneData(facts: DoctorFacts): DoctorFinding[] {
  const ours = new Set(facts.pods.map(({ zoneData }) => zoneData));
  if (ours.size === 0) return [];
  const foreign = active(facts).filter(
    ({ zoneData, definition }) => definition.timeZone !== 'UTC' && !ours.has(zoneData),
  );
  return [...grouped(foreign, ({ zoneData }) => zoneData)].map(([theirs, entries]) => {
    const names = listed(entries.map(({ definition }) => definition.name));
    const text = `${names} were declared with time zone database ${theirs}, and the live pods have ${listed([...ours])}.`;
    const todo = `Compare their next instants: fencepost next "<expression>" --tz <zone>. A new revision declares them again.`;
    return found('note', { code: 'FOREIGN_ZONE_DATA', subject: names, text, todo });
  });
}

function unreadableRecords({ unreadable }: DoctorFacts): DoctorFinding[] {
  return unreadable.map(({ name, reason }) => {
    const text = `The catalog's record of "${name}" is invalid, so the cron does not fire; other crons are not affected. ${reason}`;
    const todo =
      `fencepost remove ${name} --reason <words> deletes the record: a declared cron comes back with its next declaration, and a cron ` +
      `created at run time is created again with fencepost set ${name}.`;
    return found('bad', { code: 'RECORD_UNREADABLE', subject: name, text, todo });
  });
}

function unreadableSchedules(facts: DoctorFacts): DoctorFinding[] {
  const told = lately(facts, 'catalog.unreadable');
  const broken = new Set(facts.unreadable.map(({ name }) => name));
  const reported = told.flatMap(({ cron }) => (cron === null || broken.has(cron) ? [] : [cron]));
  const names = [...new Set(reported)];
  if (names.length === 0) return [];
  const text = `A pod cannot parse the schedule of ${listed(names)} and does not fire it: the pod runs an older release than the pod that declared it.`;
  const todo = 'Update that pod; "fencepost pods" shows the version of each.';
  return [found('bad', { code: 'UNREADABLE', subject: listed(names), text, todo })];
}

function lostLeases(facts: DoctorFacts): DoctorFinding[] {
  const lost = [...lately(facts, 'lease.lost'), ...lately(facts, 'leases.lost')];
  const count = lost.reduce((sum, { detail }) => sum + Number(detail['count'] ?? 1), 0);
  if (count < FEW_LOSSES || isStoreAtFault(facts)) return [];
  const byPod = [...grouped(lost, ({ pod }) => pod)].toSorted(([, a], [, b]) => b.length - a.length);
  const causes = listed(
    [...grouped(lost, ({ detail }) => String(detail['cause']))].map(([cause, those]) => `${cause} ${those.length}`),
  );
  const pods = listed(byPod.map(([pod]) => pod));
  const text = `${count} leases were lost within the last hour (${causes}), by ${pods}: their pods could not renew them in time.`;
  const todo = 'Check event loop lag and round trip of these pods ("fencepost pods"), or raise FENCEPOST_LEASE_TTL.';
  return [found('warn', { code: 'LEASES_LOST', subject: pods, text, todo })];
}

function refusedClaims(facts: DoctorFacts): DoctorFinding[] {
  const refused = [...lately(facts, 'claim.stale'), ...lately(facts, 'attempt.refused')];
  if (refused.length === 0) return [];
  const pods = listed([...new Set(refused.map(({ pod }) => pod))]);
  const text = `The ledger refused ${counted(refused.length, 'stale write')} within the last hour, of ${pods}: each is a prevented duplicate.`;
  const todo = 'The data is fine. If this continues, find out why these pods stall: "fencepost pods".';
  return [found('note', { code: 'STALE_WRITES', subject: pods, text, todo })];
}

function handlerOf({ definition }: CatalogEntry): string {
  return definition.handler ?? definition.name;
}

function nameOf([first]: readonly CatalogEntry[]): string {
  return first?.definition.name ?? '<cron>';
}
