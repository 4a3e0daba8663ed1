import type {
  AttemptRef,
  ClaimRequest,
  TriggerRequest,
  CronRecord,
  OperatorOrder,
  ResolveReply,
  ResolveRequest,
} from '@fencepost/ledger';
import { cronOfRun, occurrenceId } from '@fencepost/ledger/run';
import type { Pause } from '@fencepost/ledger/run';
import { judgeBegin, judgeFinish, judgeHeartbeat, judgeRedeliver } from './attempting.js';
import { judgeClaim, judgeTrigger } from './claiming.js';
import { judgeBeginEffect, judgeFinishEffect, judgeAdvanceItems, itemsOf } from './effects.js';
import type { Seen } from './violation.js';
import { NO_STEPS, STEPS, type Steps } from './states.js';
import type { KnownRun } from './known.js';
import { demand } from './violation.js';

/** One thing that a call does: a call for many crons does many. */
export interface Part {
  readonly cron: string;
  /** The run it is about. */
  readonly run: string | null;
  readonly request: unknown;
  readonly steps: Steps;
  readonly judge: (seen: Seen<never, never>) => void;
}

type Judge = Part['judge'];
type Reader = (...args: never[]) => Part[];

const NOTHING_TO_SAY: Judge = () => {};

const READERS: Readonly<Record<string, Reader>> = {
  readCron: (cron: string) => [ofCron(cron, { request: cron, judge: judgeReadCron })],
  readCrons: (crons: readonly string[]) => crons.map((cron) => ofCron(cron, { request: cron, judge: judgeReadCron })),
  claim: (request: ClaimRequest) => [claim(request)],
  claimAll: (requests: readonly ClaimRequest[]) => requests.map(claim),
  trigger: (request: TriggerRequest) => [ofRun(request.runId, { call: 'trigger', request, judge: judgeTrigger })],
  pause: (cron: string, request: unknown) => [ofCron(cron, { request, judge: judgePause })],
  resume: (cron: string) => [ofCron(cron, { request: cron, judge: judgeResume })],
  confirm: (runIds: readonly string[]) =>
    runIds.map((runId) => ofRun(runId, { call: 'confirm', request: runId, judge: NOTHING_TO_SAY })),
  cancel: (runId: string, request: unknown) => [ofRun(runId, { call: 'cancel', request, judge: NOTHING_TO_SAY })],
  redeliver: (last: { runId: string }, nonce: string) => [
    ofRun(last.runId, { call: 'redeliver', request: { last, nonce }, judge: judgeRedeliver }),
  ],
  begin: (request: { runId: string }) => [ofRun(request.runId, { call: 'begin', request, judge: judgeBegin })],
  heartbeat: (attempt: AttemptRef, ttlMs: number) => [ofAttempt(attempt, { ttlMs }, judgeHeartbeat)],
  beginEffect: (attempt: AttemptRef, effect: object) => [ofAttempt(attempt, { effect }, judgeBeginEffect)],
  finishEffect: (attempt: AttemptRef, effect: string, outcome: object) => [
    ofAttempt(attempt, { effect, outcome }, judgeFinishEffect),
  ],
  advanceItems: (attempt: AttemptRef, effect: string, step: object) => [
    ofAttempt(attempt, { effect, step }, judgeAdvanceItems),
  ],
  finish: (attempt: AttemptRef, outcome: object) => [
    ofRun(attempt.runId, { call: 'finish', request: { ...attempt, outcome }, judge: judgeFinish }),
  ],
  resolve: (runId: string, request: object) => [
    ofRun(runId, { call: 'resolve', request: { ...request, runId }, judge: judgeResolve }),
  ],
};

interface Read {
  readonly request: unknown;
  readonly judge: Judge;
}

function ofCron(cron: string, { request, judge }: Read): Part {
  return { cron, run: null, request, steps: NO_STEPS, judge };
}

function ofRun(run: string, { call, request, judge }: Read & { readonly call: string }): Part {
  return { cron: cronOfRun(run), run, request, steps: STEPS[call] ?? NO_STEPS, judge };
}

function ofAttempt(attempt: AttemptRef, more: object, judge: Judge): Part {
  return ofCron(cronOfRun(attempt.runId), { request: { ...attempt, ...more }, judge });
}

function claim(request: ClaimRequest): Part {
  const { cron, occurrence } = request;
  const run = occurrence && occurrenceId({ cron, scheduledAt: occurrence.scheduledAt });
  return { cron, run, request, steps: STEPS['claim'] ?? NO_STEPS, judge: judgeClaim };
}

/** What a call of the ledger does, part by part; `null` for one that changes and promises nothing. */
export function partsOf(call: string, args: readonly unknown[]): Part[] | null {
  return READERS[call]?.(...(args as never[])) ?? null;
}

type Pausing = OperatorOrder & { readonly until: number | null };

function judgePause({ cron, request: { until } }: Seen<Pausing, Pause>): void {
  cron.paused = { until };
}

function judgeResume({ cron }: Seen<string, Pause | null>): void {
  cron.paused = null;
}

type Resolving = ResolveRequest & { readonly runId: string };

/** I6, I7: only what waits is answered, and an answer is worth one attempt. */
function judgeResolve({ cron, request, reply, saw }: Seen<Resolving, ResolveReply>): void {
  const run = cron.runs.get(request.runId);
  if (reply.verdict !== 'resolved' || !run || run.finished.has(request.nonce)) return;
  demand(run.state === 'uncertain', 'I6', () => `${run.id} was ${run.state} and took an answer`);
  const asked = run.unresolvedEffect;
  const { effect, item } = request.unresolvedEffect;
  demand(asked?.effect === effect && asked.item === item, 'I7', () => `${run.id} took the answer to another question`);
  // The same answer sent again is told the same, and changes nothing.
  run.finished.set(request.nonce, reply.state);
  if (request.answer.verdict === 'give-up') return;
  run.answers += 1;
  run.delivery += 1;
  noteAnswer(run, request);
  saw(request.answer.verdict === 'done' ? 'resolve: done' : 'resolve: not done');
}

/** I8: what arrived as done meanwhile stands, whatever the answer is. */
function noteAnswer(run: KnownRun, { answer }: Resolving): void {
  const { unresolvedEffect } = run;
  if (unresolvedEffect === null) return;
  const { effect, item } = unresolvedEffect;
  const known = item === null ? run.effects : itemsOf(run, effect);
  const name = item ?? effect;
  if (known.get(name)?.state === 'done') return;
  const done = answer.verdict === 'done';
  known.set(name, { state: done ? 'done' : 'failed', first: 0, result: done && item === null ? answer.result : null });
}

/** I2, I3: what the ledger shows of a cron is what it promised. */
function judgeReadCron({ cron, reply }: Seen<string, CronRecord>): void {
  const { fence, cursor, generation } = reply;
  demand(fence === cron.fence, 'I3', () => `${cron.name} shows fence ${fence}, and accepted ${cron.fence}`);
  demand(cursor === cron.cursor, 'I2', () => `${cron.name} shows cursor ${cursor}, and went on to ${cron.cursor}`);
  const same = generation === cron.generation;
  demand(same, 'I3', () => `${cron.name} shows generation ${generation}, and accepted ${cron.generation}`);
}
