import { parseFence, FenceExhaustedError } from '@fencepost/lease';
import type {
  BeginRequest,
  AttemptOutcome,
  BeginReply,
  BeginEffectReply,
  ItemOutcome,
  ItemRecord,
  RunWithEffects,
  UnknownEffect,
} from '../base/ledger.js';
import { cronOfRun } from '../base/occurrence.js';
import { decodeRun, RUN_FIELDS, WORKER_FIELD } from './redis-run-codec.js';
import type { RunState } from '../base/run-state.js';
import type { EffectRecord } from '../base/run.js';

type Row = readonly unknown[];

/**
 * What `begin-attempts` answered of one run. The record comes with the reply: read by a second command it could be from
 * before, when the script has to be sent again to a server that no longer knows it.
 * @throws {FenceExhaustedError}
 */
export function decodeBegin(reply: string | Row, request: Pick<BeginRequest, 'runId' | 'worker'>): BeginReply {
  const [word, detail, now] = typeof reply === 'string' ? [reply] : reply;
  switch (word) {
    case 'BEGUN': {
      const row = (reply as Row).slice(1) as (string | null)[];
      row[WORKER_FIELD] = request.worker;
      const run = decodeRun(request.runId, row);
      if (!run?.fence) break;
      return { verdict: 'begun', fence: run.fence, attempt: run.attempt, run };
    }
    case 'BUSY':
      return { verdict: 'busy', waitMs: Number(detail) };
    case 'NOT_DUE':
      return { verdict: 'not-due', waitMs: Number(detail) };
    case 'TERMINAL':
      return { verdict: 'terminal', state: detail as RunState, ...(now === 'NOW' ? { exhausted: true } : {}) };
    case 'UNCERTAIN':
      return { verdict: 'uncertain' };
    case 'MISSING':
      return { verdict: 'missing' };
    case 'FENCE_EXHAUSTED':
      throw new FenceExhaustedError(cronOfRun(request.runId));
  }
  throw new Error(`Expected a reply of begin-attempts, got ${JSON.stringify(reply)}.`);
}

/** The end of an attempt, as `finish-attempts.lua` reads it. */
export function encodeOutcome(outcome: AttemptOutcome): (string | number)[] {
  if (outcome.kind === 'succeeded') return outcome.result === undefined ? [outcome.kind] : ['returned', outcome.result];
  const delayMs = outcome.kind === 'retry' ? outcome.delayMs : 0;
  const unresolvedEffect = outcome.kind === 'uncertain' ? JSON.stringify(outcome.unresolvedEffect) : '';
  return [outcome.kind, outcome.error, delayMs, unresolvedEffect];
}

type Fields = Readonly<Record<string, string>>;

const EFFECT = 'e/';

/** The effects of a run as `effect-record.lua` lays them out, in the order they were begun. */
export function decodeEffects(fields: Fields): EffectRecord[] {
  const names = Object.keys(fields).flatMap((field) => (field.startsWith(EFFECT) ? [field.slice(EFFECT.length)] : []));
  const positioned = names.map((name) => decodeEffect(fields, name));
  return positioned.toSorted((a, b) => a.position - b.position).map(({ record }) => record);
}

/** @param flat fields and values of the run's hash in turn; empty where there is no such run */
export function decodeRunWithEffects(id: string, flat: readonly string[]): RunWithEffects | null {
  const fields: Record<string, string> = {};
  for (let n = 0; n < flat.length; n += 2) fields[flat[n] ?? ''] = flat[n + 1] ?? '';
  const run = decodeRun(
    id,
    RUN_FIELDS.map((name) => fields[name]),
  );
  return run && { run, effects: decodeEffects(fields) };
}

function decodeEffect(fields: Fields, name: string): { readonly position: number; readonly record: EffectRecord } {
  const [state, since, took, first = '', by = '', position] = (fields[EFFECT + name] ?? '').split(' ');
  const text = fields[`r/${name}`] ?? null;
  const record = {
    name,
    state: state as EffectRecord['state'],
    since: Number(since),
    finishedAt: took ? Number(since) + Number(took) : null,
    // Fence 0 is a person's.
    fence: parseFence(by === '0' || by === '=' ? first : by),
    result: state === 'done' ? text : null,
    error: state === 'failed' ? text : null,
    payloadHash: fields[`h/${name}`] || null,
  };
  return { position: Number(position), record };
}

/** The items under one name, as `item-record.lua` lays them out. */
export function decodeItems(fields: Fields, effect: string): ItemRecord[] {
  const prefix = `${Buffer.byteLength(effect)}/${effect}`;
  const own = Object.entries(fields).filter(([field]) => field.startsWith(prefix));
  return own.map(([field, text]) => decodeItem(field.slice(prefix.length), text));
}

function decodeItem(key: string, text: string): ItemRecord {
  const [state = '', since = ''] = text.split(' ', 2);
  const error = text.slice(state.length + since.length + 2);
  return {
    key,
    state: state as ItemRecord['state'],
    error: state === 'failed' ? error : null,
    since: Number(since),
  };
}

/** An end of an item, as `advance-items.lua` reads it. */
export function encodeItem(outcome: ItemOutcome): string[] {
  return [outcome.key, outcome.kind, outcome.kind === 'failed' ? outcome.error : ''];
}

/** What `begin-effect.lua` answers. */
export function decodeBeginEffect(reply: readonly string[]): BeginEffectReply {
  const [word, detail = ''] = reply;
  switch (word) {
    case 'GO':
      return { verdict: 'go', unknown: null };
    case 'GO_UNKNOWN':
      return { verdict: 'go', unknown: unknownEffect(reply) };
    case 'UNKNOWN':
      return { verdict: 'unknown', unknown: unknownEffect(reply) };
    case 'DONE':
      return { verdict: 'done', result: detail, payloadHash: reply[2] || null };
    case 'STALE':
      return { verdict: 'stale' };
    default:
      throw new Error(`Expected a reply of begin-effect, got ${JSON.stringify(reply)}.`);
  }
}

function unknownEffect([, since, ageMs, hash]: readonly string[]): UnknownEffect {
  return { since: Number(since), ageMs: Number(ageMs), payloadHash: hash || null };
}
