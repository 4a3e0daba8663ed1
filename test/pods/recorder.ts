import 'reflect-metadata';
import { channel } from 'node:diagnostics_channel';
import { openSync, writeSync } from 'node:fs';
import { EVENT_TEXT } from '@fencepost/jobs/internal';
import { PostgresCatalog, PostgresLedger } from '@fencepost/ledger/postgres';
import { RedisCatalog, RedisLedger } from '@fencepost/ledger/redis';
import { armStalls } from './stall.js';

/*
 * Loaded into a pod by `node --import`: appends to the file in `RECORD_TO` a line for each event, for each call of the
 * ledger and its return, and for what was read of the catalog. Synchronously, so that a SIGKILL loses nothing of what came
 * before it. All times are of one monotonic clock, which the processes of a machine share, in microseconds.
 */
const { RECORD_TO = '', POD_NAME: pod = '' } = process.env;
const { pid } = process;

/** What changes a run or a cursor, or is refused to. Heartbeats are left out: they change nothing but a deadline. */
const RECORDED = [
  ...(['claim', 'claimAll', 'trigger', 'confirm', 'redeliver', 'begin', 'beginEffect', 'finishEffect'] as const),
  ...(['advanceItems', 'transaction', 'finish', 'cancel', 'resolve'] as const),
];

type Method = (...args: unknown[]) => Promise<unknown>;

function append(file: number, line: object): void {
  writeSync(file, `${JSON.stringify({ at: now(), pod, pid, ...line })}\n`);
}

function now(): number {
  return Number(process.hrtime.bigint() / 1_000n);
}

function recordEvents(file: number): void {
  for (const event of [...Object.keys(EVENT_TEXT), 'stalled']) {
    channel(`fencepost:${event}`).subscribe((detail) => append(file, { event, detail }));
  }
}

/** Around the class itself: what a pod's own ledger is asked goes through here, whoever asks. */
function recordCalls(file: number, ledger: { readonly prototype: object }): void {
  for (const op of RECORDED) {
    const method = Reflect.get(ledger.prototype, op) as Method | undefined;
    if (method) Reflect.set(ledger.prototype, op, recorded(file, op, method));
  }
}

/** What the pod knows of the catalog from here on, whenever it is something else. */
function recordKnowledge(file: number, catalog: { readonly prototype: object }): void {
  const read = Reflect.get(catalog.prototype, 'read') as () => Promise<{ readonly entries: unknown }>;
  let known = '';
  Reflect.set(catalog.prototype, 'read', async function (this: unknown) {
    const calledAt = now();
    const reading = await read.call(this);
    const { entries } = reading;
    const text = JSON.stringify(entries);
    if (text !== known) append(file, { event: 'catalog.known', detail: { calledAt, entries } });
    known = text;
    return reading;
  });
}

let calls = 0;

function recorded(file: number, op: string, method: Method): Method {
  return async function (this: unknown, ...args) {
    const call = (calls += 1);
    // The work of a transaction is no plain data.
    append(file, { call, op, input: args.filter((arg) => typeof arg !== 'function') });
    try {
      const output = await method.apply(this, args);
      append(file, { return: call, output: output ?? null });
      return output;
    } catch (error) {
      append(file, { return: call, error: String(error) });
      throw error;
    }
  };
}

if (RECORD_TO !== '') {
  const file = openSync(RECORD_TO, 'a');
  // By a name that no event of a pod has: a number of a process may come again, and this tells them apart.
  append(file, { event: 'recording.begun', detail: {} });
  recordEvents(file);
  for (const catalog of [RedisCatalog, PostgresCatalog]) recordKnowledge(file, catalog);
  for (const ledger of [RedisLedger, PostgresLedger]) recordCalls(file, ledger);
}
armStalls(process.env['STALLS']);
