import 'reflect-metadata';
import { channel } from 'node:diagnostics_channel';
import { openSync, writeSync } from 'node:fs';
import { EVENT_TEXT, FusedClaims, runOfJob, RunSteps } from '@fencepost/jobs/internal';
import type { ClaimRequest } from '@fencepost/ledger';
import type { Catalog, CatalogEntry } from '@fencepost/ledger/catalog';
import { PostgresCatalog, PostgresLedger } from '@fencepost/ledger/postgres';
import { RedisCatalog, RedisLedger } from '@fencepost/ledger/redis';
import { RedisScript } from '@fencepost/lease/internal/redis';
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

/** What changes definitions. Their arguments are large and of no use: what came of them is read in the catalog. */
const DECLARING = ['declare', 'drop'] as const;

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

/** When a declaration was sent and when its answer was heard: a pod that dies in between can't tell what it has changed. */
function recordDeclarations(file: number, catalog: { readonly prototype: object }): void {
  for (const op of DECLARING) {
    const method = Reflect.get(catalog.prototype, op) as Method | undefined;
    if (!method) continue;
    Reflect.set(catalog.prototype, op, async function (this: unknown, ...args: unknown[]) {
      const { app, revision } = args[1] as { readonly app: string; readonly revision: number };
      append(file, { event: 'catalog.asked', detail: { op, app, revision } });
      const reply = await method.apply(this, args);
      append(file, { event: 'catalog.answered', detail: { op, app, revision } });
      return reply;
    });
  }
}

/** Where a reading of the whole catalog begins. */
const START = placeOf(null, null);

interface Known {
  readonly calledAt: number;
  readonly entries: ReadonlyMap<string, CatalogEntry>;
}

/**
 * What the pod knows of the catalog from here on, whenever it is something else. Each reader goes on from the version that it
 * knows, and page by page.
 */
function recordKnowledge(file: number, catalog: { readonly prototype: object }): void {
  const since = Reflect.get(catalog.prototype, 'since') as Catalog['since'];
  const states = new Map<string, Known>();
  let told = '';
  Reflect.set(catalog.prototype, 'since', async function (this: Catalog, ...args: Parameters<Catalog['since']>) {
    const [version, after = null] = args;
    const begun = now();
    const page = await since.apply(this, args);
    if (!page) return page;
    const before = states.get(placeOf(version, after));
    // A worker goes on from the version that its declaration was answered with: it only looks whether something changed.
    if (!before && placeOf(version, after) !== START) return page;
    const entries = new Map(before?.entries);
    const known = { calledAt: after === null ? begun : (before?.calledAt ?? begun), entries };
    for (const entry of page.entries) entries.set(entry.definition.name, entry);
    for (const { name } of page.unreadable ?? []) entries.delete(name);
    for (const name of page.gone) entries.delete(name);
    states.set(page.next === null ? placeOf(page.version, null) : placeOf(version, page.next), known);
    if (page.next !== null) return page;
    const all = [...entries.values()];
    const text = JSON.stringify(all);
    if (text !== told) append(file, { event: 'catalog.known', detail: { calledAt: known.calledAt, entries: all } });
    told = text;
    return page;
  });
}

function placeOf(version: number | null, after: string | null): string {
  return `${version} ${after}`;
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

/**
 * What a queue on the server of the ledger does in steps of its own. A claim that is accepted is confirmed with it.
 */
function recordFusedSteps(file: number): void {
  const claimAll = Reflect.get(FusedClaims.prototype, 'claimAll') as Method;
  const claimed = recorded(file, 'claimAll', claimAll);
  Reflect.set(FusedClaims.prototype, 'claimAll', function (this: unknown, requests: readonly ClaimRequest[]) {
    const asked = requests.filter(({ occurrence }) => occurrence !== null);
    const ids = asked.map(({ cron, occurrence }) => `${cron}@${occurrence?.scheduledAt}`);
    append(file, { call: (calls += 1), op: 'confirm', input: [ids] });
    return claimed.call(this, requests);
  });
  recordTurns(file);
  recordBegins(file);
  const succeed = Reflect.get(RunSteps.prototype, 'succeed');
  Reflect.set(RunSteps.prototype, 'succeed', function (this: RunSteps, ...args: Parameters<typeof succeed>) {
    const ending = succeed.apply(this, args);
    const [, , { attempt, result }] = args;
    const outcome = { kind: 'succeeded', ...(result !== undefined && { result }) };
    // It is sent at the end of this turn of the event loop.
    return ending && recorded(file, 'finish', () => ending).call(this, attempt, outcome);
  });
}

/** A script that brings jobs brings begins: a call says that it may bring some, and its reply which ones. */
function recordTurns(file: number): void {
  const run = Reflect.get(RedisScript.prototype, 'run') as Method;
  Reflect.set(RedisScript.prototype, 'run', async function (this: RedisScript, ...args: unknown[]) {
    if (!this.text.includes('local function begin_attempts')) return run.apply(this, args);
    const call = (calls += 1);
    append(file, { call, op: 'turn', input: [] });
    // What a call that rejects has begun, nobody hears.
    const reply = await run.apply(this, args);
    append(file, { return: call, output: null });
    return reply;
  });
}

function recordBegins(file: number): void {
  const took = Reflect.get(RunSteps.prototype, 'took');
  const begunWith = Reflect.get(RunSteps.prototype, 'begunWith');
  const begins = new Map<string, number>();
  Reflect.set(RunSteps.prototype, 'took', function (this: RunSteps, ...args: Parameters<typeof took>) {
    const [jobId, { nonce, sentAt, reply }] = args;
    if (reply !== undefined) {
      const call = (calls += 1);
      const at = Math.floor(now() - (performance.now() - sentAt) * 1_000);
      begins.set(jobId, call);
      append(file, { at, call, op: 'begin', input: [{ runId: runOfJob(jobId), nonce }] });
    }
    return took.apply(this, args);
  });
  Reflect.set(RunSteps.prototype, 'begunWith', function (this: RunSteps, ...args: Parameters<typeof begunWith>) {
    const begun = begunWith.apply(this, args);
    if (begun) append(file, { return: begins.get(args[0].id ?? ''), output: begun.reply() });
    return begun;
  });
}

if (RECORD_TO !== '') {
  const file = openSync(RECORD_TO, 'a');
  // By a name that no event of a pod has: a number of a process may come again, and this tells them apart.
  append(file, { event: 'recording.begun', detail: {} });
  recordEvents(file);
  for (const catalog of [RedisCatalog, PostgresCatalog]) {
    recordKnowledge(file, catalog);
    recordDeclarations(file, catalog);
  }
  for (const ledger of [RedisLedger, PostgresLedger]) recordCalls(file, ledger);
  recordFusedSteps(file);
}
armStalls(process.env['STALLS']);
