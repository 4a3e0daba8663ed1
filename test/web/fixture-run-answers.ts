import type { Answers } from '@fencepost/client';
import { JOURNAL } from './fixture-rest.js';
import { at, CRON, FAILED, FAILED_PAGE, LOST_PAGE, LOST_RUN, REPORT, SUCCESS, UNCERTAIN } from './fixture-runs.js';

/* What the API answers about runs and to orders. */

/** The run that asks, the one that failed, or the success before both. */
export function runPage(id: string): unknown {
  const journal = JOURNAL.filter(({ runId }) => runId === id);
  if (id === FAILED.id)
    return { ...REPORT, run: FAILED, effects: [], unresolvedEffect: null, ...FAILED_PAGE, journal, logs: LOGS };
  if (id !== SUCCESS.id)
    return { ...REPORT, ...LOST_PAGE, journal: JOURNAL.filter(({ runId }) => runId === LOST_RUN), logs: LOGS };
  const neighbours = { previous: null, next: FAILED.id, previousSuccess: null };
  return { ...REPORT, run: SUCCESS, unresolvedEffect: null, attempts: [], neighbours, journal, logs: [] };
}

const LOGS = [
  `${at(0.4)} info [attempt 1 · fence 1763607590005] the report is being made`,
  `${at(31)} warn [attempt 2 · fence 1763607590007] nobody knows whether send-mail has happened`,
];

/** By state and by error: what a test of the page asks for. */
export function runsFound({ searchParams }: URL): unknown {
  const states = searchParams.getAll('state').flatMap((text) => text.split(','));
  const error = searchParams.get('error')?.toLowerCase() ?? '';
  const items = [UNCERTAIN, FAILED, SUCCESS].filter(
    (one) => (states.length === 0 || states.includes(one.state)) && (one.error ?? '').toLowerCase().includes(error),
  );
  return { items, next: null, complete: searchParams.get('worker') === null };
}

export interface BatchBody {
  readonly order: string;
  readonly runIds: readonly string[];
}

/** All but the last of several are done. */
export function batchOf({ order, runIds }: BatchBody): unknown {
  const done = runIds.length > 1 ? runIds.slice(0, -1) : runIds;
  const left = runIds.slice(done.length);
  return { order, done, failed: left.map((runId) => ({ runId, code: 'RUN_STATE', detail: 'It is running.' })) };
}

export function changeOf(path: string, body: unknown): unknown {
  const none = { count: 0, first: [] };
  const { dryRun } = body as { readonly dryRun: boolean };
  const next = Array.from({ length: 10 }, (_, n) => at(3_600 * (n + 1)));
  const what = { change: 'changed', parts: ['expression'], generation: 2, added: { count: 7, first: [at(1_800)] } };
  return { cron: path.split('/').at(-1), dryRun, ...what, next, gone: none };
}

export interface BulkBody {
  readonly order: Answers['BulkResult']['order'];
  readonly dryRun: boolean;
}

/** An order to all crons with a tag. */
export function bulkOf({ order, dryRun }: BulkBody): Answers['BulkResult'] {
  const crons = [CRON, 'cache-warm'];
  return { order, dryRun, crons, done: dryRun ? [] : crons, failed: [] };
}
