import type { Fence } from '@fencepost/lease';
import type { Delivery, DroppedNotifications, Notification, ResolveReply } from '../base/ledger.js';
import { isTriggeredId, LATE_TRIGGER_MS } from '../base/ledger-request.js';
import { MAX_NOTIFICATIONS, type NotifiedState } from '../base/run.js';
import { isTerminal, nextState, type RunEvent, type RunState } from '../base/run-state.js';
import type { EffectRecord, OverlapPolicy, Pause, Run, SkipRange } from '../base/run.js';

/** A run that waits blocks its successor until it goes on: no end to it. */
export const BLOCKS_ALWAYS = Number.POSITIVE_INFINITY;

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

export interface MemoryEffect {
  readonly state: EffectRecord['state'];
  readonly since: number;
  readonly finishedAt: number | null;
  /** The attempt that began it first since it last failed. */
  readonly first: Fence;
  /** The attempt that ended it, a person's fence 0, or nobody's. */
  readonly by: Fence | null;
  /** The result as JSON once it is done, the error once it has failed. */
  readonly text: string;
  readonly payloadHash: string | null;
}

export interface MemoryItem {
  readonly state: EffectRecord['state'];
  readonly error: string | null;
  readonly since: number;
}

export interface MemoryRun {
  /** What callers get to see. */
  readonly record: Mutable<Run>;
  readonly claimNonce: string;
  readonly overlap: OverlapPolicy;
  /** How many runs of the cron may go on at once while this one wants to begin. */
  readonly maxConcurrency: number;
  /** Epoch milliseconds after which it doesn't begin any more. */
  readonly startBy: number | null;
  readonly effects: Map<string, MemoryEffect>;
  /** By the name they are recorded under, and by their keys. */
  readonly items: Map<string, Map<string, MemoryItem>>;
  /** By name, every attempt that was allowed to begin the effect or items of it, with its nonce: fences name attempts here. */
  readonly allowed: Map<string, Map<Fence, string>>;
  /** Of which ends somebody is to be notified. */
  notify: string;
  /** Beyond the retry policy, one for each answer of a person. */
  extraAttempts: number;
  /** Since when it waits for an answer. */
  doubtedAt: number;
  resolved: { readonly nonce: string; readonly reply: ResolveReply } | null;
  deliveryNonce: string | null;
  attemptNonce: string | null;
  finished: { readonly nonce: string; readonly state: RunState } | null;
  leaseUntil: number;
  leaseMs: number;
  lookAt: number | null;
}

export interface MemoryCron {
  fence: Fence;
  term: string;
  cursor: number | null;
  generation: number;
  refusals: number;
  runFence: Fence;
  /** The last decision that made no run, for when it is sent again. */
  recorded: { readonly nonce: string; readonly paused: boolean } | null;
  /** The first instants it has accounted for come after this. */
  began: number | null;
  /** Instants up to here may have expired. */
  forgotten: number | null;
  /** Instants behind the cursor that somebody asked for. */
  readonly asked: Set<number>;
  /** Run ids that can't be used again although their record may be gone, and until when. */
  readonly used: Map<string, number>;
  paused: Pause | null;
  /** The oldest first. */
  notifications: Notification[];
  droppedNotifications: DroppedNotifications | null;
  readonly skips: SkipRange[];
  readonly runs: Map<string, MemoryRun>;
}

export function newCron(noFence: Fence): MemoryCron {
  return {
    fence: noFence,
    term: '',
    cursor: null,
    generation: 0,
    refusals: 0,
    runFence: noFence,
    recorded: null,
    began: null,
    forgotten: null,
    asked: new Set(),
    used: new Map(),
    paused: null,
    notifications: [],
    droppedNotifications: null,
    skips: [],
    runs: new Map(),
  };
}

/**
 * Takes a run along the state table.
 * @throws {Error} when the table has no such step: a bug of this ledger, never of its caller
 */
export function move({ record }: MemoryRun, event: RunEvent): void {
  const to = nextState(record.state, event);
  if (to === null) {
    throw new Error(`The state table has no way from "${record.state}" by "${event}" (run ${record.id}).`);
  }
  record.state = to;
}

/** Whether a worker holds the run. */
export function isAlive({ record, leaseUntil }: MemoryRun, now: number): boolean {
  return record.state === 'running' && leaseUntil > now;
}

/** Whether the run stands in a successor's way: it waits for a worker, or has one. */
export function blocks({ record, leaseUntil }: MemoryRun, now: number): boolean {
  if (isTerminal(record.state) || record.state === 'orphaned' || record.state === 'uncertain') return false;
  return leaseUntil > now;
}

/** Those that are wanted, all by default, by their instants, the oldest first. */
export function inOrder(runs: Iterable<MemoryRun>, wanted: (run: MemoryRun) => boolean = () => true): MemoryRun[] {
  // Mostly few of many: what is left out need not be sorted.
  const found: MemoryRun[] = [];
  for (const run of runs) if (wanted(run)) found.push(run);
  return found.toSorted(
    ({ record: a }, { record: b }) => a.scheduledAt - b.scheduledAt || (a.id < b.id ? -1 : Number(a.id > b.id)),
  );
}

/** Nobody takes its instant for one that was missed. */
export function forgetRun(cron: MemoryCron, { id, scheduledAt }: Run, now: number): void {
  cron.runs.delete(id);
  if (isTriggeredId(id)) rememberId(cron, id, { now, ms: LATE_TRIGGER_MS });
  cron.forgotten = Math.max(cron.forgotten ?? 0, scheduledAt);
}

/** `remember-ids.lua`. */
export function rememberId({ used }: MemoryCron, id: string, { now, ms }: Record<'now' | 'ms', number>): void {
  used.set(id, Math.max(used.get(id) ?? 0, now + ms));
  for (const [known, until] of used) if (until <= now) used.delete(known);
}

/** One that has run out is none. */
export function pauseInForce({ paused }: MemoryCron, now: number): Pause | null {
  return paused && (paused.until ?? now + 1) > now ? paused : null;
}

/** What a caller gets is a copy: a record that changes behind its back would be another store than Redis. */
export function snapshot({ record }: MemoryRun): Run {
  // By hand: a structured clone of it costs more than the rest of most calls.
  const { missed, unresolvedEffect, cancel } = record;
  const inner = {
    missed: missed && { ...missed },
    unresolvedEffect: unresolvedEffect && { ...unresolvedEffect },
    cancel: cancel && { ...cancel },
  };
  return { ...record, ...inner };
}

/** What the queue is given. */
export function deliveryOfRun({ record: { id, delivery, priority } }: MemoryRun): Delivery {
  return { runId: id, delivery, ...(priority === null ? {} : { priority }) };
}

/** `note-notification.lua`, line for line. */
export function noteNotification(cron: MemoryCron, { record, notify }: MemoryRun, now: number): void {
  const { id: runId, state, attempt, attemptedAt, error, unresolvedEffect } = record;
  if (!isNotified(state) || !notify.includes(state)) return;
  cron.notifications.push({
    ...{ receipt: `${runId} ${state} ${attempt}`, runId, state, notify, attempt, at: now, error },
    tookMs: Math.max(0, now - (attemptedAt ?? now)),
    unresolvedEffect: unresolvedEffect && { ...unresolvedEffect },
  });
  if (cron.notifications.length <= MAX_NOTIFICATIONS) return;
  const surplus = cron.notifications.splice(0, cron.notifications.length - MAX_NOTIFICATIONS);
  cron.droppedNotifications = { count: (cron.droppedNotifications?.count ?? 0) + surplus.length, lastAt: now };
}

function isNotified(state: RunState): state is NotifiedState {
  return state === 'succeeded' || state === 'failed' || state === 'uncertain';
}
