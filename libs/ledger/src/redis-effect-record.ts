import { parseFence } from '@fencepost/lease';
import type { ItemRecord } from './ledger.js';
import type { EffectRecord } from './run.js';

type Fields = Readonly<Record<string, string>>;

const EFFECT = 'e/';

/** The effects of a run as `effect-record.lua` lays them out, in the order they were begun. */
export function readEffects(fields: Fields): EffectRecord[] {
  const names = Object.keys(fields).flatMap((field) => (field.startsWith(EFFECT) ? [field.slice(EFFECT.length)] : []));
  const placed = names.map((name) => readEffect(fields, name));
  return placed.toSorted((a, b) => a.place - b.place).map(({ record }) => record);
}

function readEffect(fields: Fields, name: string): { readonly place: number; readonly record: EffectRecord } {
  const [state, since, finishedAt, first = '', by = '', place] = (fields[EFFECT + name] ?? '').split(' ');
  const text = fields[`r/${name}`] ?? null;
  const record = {
    name,
    state: state as EffectRecord['state'],
    since: Number(since),
    finishedAt: Number(finishedAt) || null,
    // Fence 0 is a person's.
    fence: parseFence(by === '0' ? first : by),
    result: state === 'done' ? text : null,
    error: state === 'failed' ? text : null,
    payloadHash: fields[`h/${name}`] || null,
  };
  return { place: Number(place), record };
}

/** The items under one name, as `item-record.lua` lays them out. */
export function readItems(fields: Fields, effect: string): ItemRecord[] {
  const prefix = `${Buffer.byteLength(effect)}/${effect}`;
  const own = Object.entries(fields).filter(([field]) => field.startsWith(prefix));
  return own.map(([field, text]) => readItem(field.slice(prefix.length), text));
}

function readItem(key: string, text: string): ItemRecord {
  const [state = '', since = ''] = text.split(' ', 2);
  const error = text.slice(state.length + since.length + 2);
  return {
    key,
    state: state as ItemRecord['state'],
    error: state === 'failed' ? error : null,
    since: Number(since),
  };
}
