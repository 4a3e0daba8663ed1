import { createHash } from 'node:crypto';
import type { Alarm, AlarmKind, AlarmChange } from '@fencepost/jobs/internal';

/** What is remembered of a cron's alarms, for all pods. Times are epoch milliseconds of the store. */
export interface AlarmRecord {
  /** From when on a success is expected. */
  readonly countFrom: number;
  /** The newest success that was seen: the ledger forgets runs. */
  readonly successAt: number | null;
  readonly open: readonly OpenAlarm[];
  /** Raised or cleared, and not told yet as far as is known. */
  readonly untold: readonly AlarmChange[];
  /** Whoever is telling has until then; after it somebody else tells. */
  readonly tellingUntil: number;
}

/** `held`: raised while its cron was muted, so that nobody outside knows of it. */
type OpenAlarm = Alarm & { readonly held?: true };

/** Long enough to put a few jobs into a queue; a pod that died in between delays the news by as much. */
const TELLING_MS = 10_000;

/** A cron that raises and clears faster than anybody can be told must not fill the store. */
const MAX_UNTOLD = 20;

export function newRecord(now: number): AlarmRecord {
  return { countFrom: now, successAt: null, open: [], untold: [], tellingUntil: 0 };
}

/** What one look makes of the record, and what is to be told by whoever manages to write it. */
export interface Settled {
  readonly record: AlarmRecord;
  readonly tell: readonly AlarmChange[];
}

/**
 * An alarm that was open stays the one it was: it is told once when it is raised and once when it is cleared, whatever
 * becomes of its text. One that is raised while its cron is muted is told as muted, and again if it is still open when the mute
 * is over; its end is told as it was.
 */
export function settle(
  cron: string,
  record: AlarmRecord,
  { found, now, muted }: { found: readonly Alarm[]; now: number; muted: boolean },
): Settled {
  const raised = found.filter(({ kind }) => !isOpen(record.open, kind));
  const cleared = record.open.filter(({ kind }) => !isOpen(found, kind));
  const stay = record.open.filter(({ kind }) => isOpen(found, kind));
  const delayed = muted ? [] : stay.filter(({ held }) => held);
  const open = [
    ...stay.map((alarm) => (delayed.includes(alarm) ? known(alarm) : alarm)),
    ...raised.map((alarm): OpenAlarm => (muted ? { ...alarm, held: true } : alarm)),
  ];
  const untold = [
    ...record.untold,
    ...raised.map((alarm) => changeOf({ ...alarm, cron, news: 'raised', ...mutedIf(muted) }, now)),
    ...delayed.map((alarm) => changeOf({ ...known(alarm), cron, news: 'raised', delayed: true }, now)),
    ...cleared.map((alarm) => changeOf({ ...known(alarm), cron, news: 'cleared', ...mutedIf(alarm.held) }, now)),
  ].slice(-MAX_UNTOLD);
  const mayTell = untold.length > 0 && now >= record.tellingUntil;
  const tellingUntil = mayTell ? now + TELLING_MS : record.tellingUntil;
  return { record: { ...record, open, untold, tellingUntil }, tell: mayTell ? untold : [] };
}

const mutedIf = (muted: boolean | undefined) => (muted ? ({ muted: true } as const) : {});

/** As those outside know it, or are told now. */
function known({ held: _, ...alarm }: OpenAlarm): Alarm {
  return alarm;
}

function isOpen(alarms: readonly Alarm[], kind: AlarmKind): boolean {
  return alarms.some((alarm) => alarm.kind === kind);
}

/** After they were told. */
export function told(record: AlarmRecord, tell: readonly AlarmChange[]): AlarmRecord {
  const done = new Set(tell.map(({ id }) => id));
  return { ...record, untold: record.untold.filter(({ id }) => !done.has(id)), tellingUntil: 0 };
}

/** Nothing is lost with a record that can't be read: what is wrong is found, and told, again. */
export function readRecord(text: string | null): AlarmRecord | null {
  try {
    const record = text === null ? null : (JSON.parse(text) as AlarmRecord);
    return record && Array.isArray(record.open) && Array.isArray(record.untold) ? record : null;
  } catch {
    return null;
  }
}

/** The id is kept with the news: whoever tells it, again or after a crash, tells it under the same one. */
function changeOf(alarm: Omit<AlarmChange, 'id'>, now: number): AlarmChange {
  const content = JSON.stringify([alarm.cron, alarm.kind, alarm.since, alarm.news, now]);
  return { ...alarm, id: createHash('sha256').update(content).digest('hex').slice(0, 24) };
}
