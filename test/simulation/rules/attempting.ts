import type { AttemptLog, AttemptOutcome, AttemptRef, BeginReply, BeginRequest, Delivery } from '@fencepost/ledger';
import { isTerminal, type RunState } from '@fencepost/ledger/run';
import { hasExpired, isCurrent, type KnownRun } from './known.js';
import type { Seen } from './violation.js';
import { demand } from './violation.js';

export function judgeBegin(seen: Seen<BeginRequest, BeginReply>): void {
  const { cron, request, reply, saw } = seen;
  const run = cron.runs.get(request.runId);
  if (reply.verdict === 'missing' || !run) return demandUnknown(request.runId, run);
  if (reply.verdict === 'busy') noteBusy(run, seen.now, reply.waitMs);
  if (reply.verdict === 'busy') return saw('begin: busy');
  if (reply.verdict === 'not-due') return saw('begin: not due');
  if (reply.verdict === 'uncertain') return saw('begin: uncertain');
  if (reply.verdict === 'terminal') {
    saw('begin: terminal');
    if (!isTerminal(run.state) && reply.state === 'failed') saw('begin: exhausted');
    return;
  }
  if (run.state === 'running' && run.nonce === request.nonce) return checkRepeated(run, seen, reply);
  if (run.state === 'running' || run.state === 'orphaned') saw('begin: takeover');
  checkFree(run, seen);
  checkCapacity(run, seen);
  checkFence(seen, reply);
  checkAttempt(run, seen, reply);
  take(run, seen, reply);
}

type Begun = Extract<BeginReply, { verdict: 'begun' }>;

function demandUnknown(runId: string, run: KnownRun | undefined): void {
  const forgotten = run === undefined || isTerminal(run.state);
  demand(forgotten, 'I2', () => `the ledger forgot ${runId}, which is ${run?.state}`);
}

/** A lease of more than twice its length was left by a clock that went back, and is cut by whoever asks. */
function noteBusy(run: KnownRun, now: number, waitMs: number): void {
  if (run.state !== 'running' || run.leaseUntil === null) return;
  if (run.leaseUntil - now > run.leaseMs * 2) run.leaseUntil = now + waitMs;
}

function checkRepeated(run: KnownRun, { saw }: Seen<BeginRequest, BeginReply>, { fence, attempt }: Begun): void {
  const same = run.fence === fence && run.attempt === attempt;
  demand(same, 'I5', () => `${run.id} answered the same begin with fence ${fence}, before with ${run.fence}`);
  saw('begin: repeated');
}

/** I5, I6: nobody has it, and it is not over. */
function checkFree(run: KnownRun, { now }: Seen<BeginRequest, BeginReply>): void {
  demand(!isTerminal(run.state), 'I6', () => `${run.id} was ${run.state} and began`);
  demand(run.state !== 'uncertain', 'I7', () => `${run.id} began while it waits for a person`);
  const free = run.state !== 'running' || run.leaseUntil === null || hasExpired(run, now);
  demand(free, 'I5', () => `${run.id} began while attempt ${run.attempt} holds it until ${run.leaseUntil}, now ${now}`);
}

function checkCapacity(run: KnownRun, { cron, now }: Seen<BeginRequest, BeginReply>): void {
  if (run.capacity === Infinity) return;
  const others = [...cron.open].flatMap((id) => cron.runs.get(id) ?? []).filter((other) => other !== run);
  const going = others.filter(
    (other) => other.state === 'running' && other.leaseUntil !== null && !hasExpired(other, now),
  );
  demand(
    going.length < run.capacity,
    'overlap',
    () => `${run.id} began beside ${going.map(({ id }) => id).join(', ')}`,
  );
}

/** I4 */
function checkFence({ cron, request }: Seen<BeginRequest, BeginReply>, { fence }: Begun): void {
  const larger = fence > cron.runFence;
  demand(larger, 'I4', () => `${request.runId} began under fence ${fence} after ${cron.runFence}`);
}

/** I10 */
function checkAttempt(run: KnownRun, { request }: Seen<BeginRequest, BeginReply>, { attempt }: Begun): void {
  const next = run.attempt + 1;
  demand(attempt === next, 'I10', () => `${run.id} began attempt ${attempt}, expected ${next}`);
  const most = request.maxAttempts + run.answers;
  demand(attempt <= most, 'I10', () => `${run.id} began attempt ${attempt} of ${most}`);
}

function take(run: KnownRun, seen: Seen<BeginRequest, BeginReply>, { fence, attempt }: Begun): void {
  const { cron, request, now } = seen;
  const { nonce, ttlMs } = request;
  cron.runFence = fence;
  Object.assign(run, { attempt, fence, nonce, leaseUntil: now + ttlMs, leaseMs: ttlMs });
  run.attempts.set(fence, nonce);
}

type Beating = AttemptRef & { readonly ttlMs: number };

/** I5: only the current attempt keeps its run, and only while it has it. */
export function judgeHeartbeat({
  cron,
  request,
  reply,
  now,
  saw,
}: Seen<Beating, Awaited<ReturnType<AttemptLog['heartbeat']>>>): void {
  if (reply === 'stale') return saw('heartbeat: stale');
  const run = demandHolding(cron.runs.get(request.runId), request, { now, what: 'was extended' });
  if (reply === 'cancelled') saw('heartbeat: cancelled');
  run.leaseUntil = Math.min(now + request.ttlMs, run.cancelUntil);
  run.leaseMs = request.ttlMs;
}

/** I5 */
export function demandHolding(
  run: KnownRun | undefined,
  attempt: AttemptRef,
  { now, what }: { readonly now: number; readonly what: string },
): KnownRun {
  const current = run !== undefined && isCurrent(run, attempt);
  demand(current, 'I5', () => `${attempt.runId} ${what} under fence ${attempt.fence}, its own is ${run?.fence}`);
  const text = () => `${attempt.runId} ${what} under fence ${attempt.fence}, whose lease ended at ${run.leaseUntil}`;
  demand(!hasExpired(run, now), 'I5', text);
  return run;
}

type Finishing = AttemptRef & { readonly outcome: AttemptOutcome };

/** I5, I6: only the current attempt ends its run, and once. Its lease may have run out, as long as nobody else has begun. */
export function judgeFinish({ cron, request, reply, saw }: Seen<Finishing, RunState | null>): void {
  const run = cron.runs.get(request.runId);
  if (reply === null) return saw('finish: stale');
  const told = run?.finished.get(request.nonce);
  if (run && told !== undefined && !isCurrent(run, request)) {
    demand(told === reply, 'I6', () => `${run.id} was told ${told} by its end, and then ${reply}`);
    return saw('finish: repeated');
  }
  const { fence, outcome } = request;
  const current = run !== undefined && isCurrent(run, request);
  demand(current, 'I5', () => `${request.runId} ended ${reply} under ${fence}, its own is ${run?.fence}`);
  run.finished.set(request.nonce, reply);
  if (outcome.kind === 'retry' && reply === 'enqueued') saw('finish: retry');
  if (reply !== 'uncertain') return;
  run.unresolvedEffect = outcome.kind === 'uncertain' ? outcome.unresolvedEffect : null;
  saw('finish: uncertain');
}

type Redelivering = { readonly last: Delivery; readonly nonce: string };

/** Nothing is delivered that a worker has, that waits for a person or that is over; each time under a number of its own. */
export function judgeRedeliver({ cron, request, reply, now, saw }: Seen<Redelivering, Delivery | null>): void {
  const run = cron.runs.get(request.last.runId);
  if (reply === null || !run) return saw('redeliver: refused');
  if (run.deliveryNonce === request.nonce) return;
  const open = !isTerminal(run.state) && run.state !== 'uncertain';
  demand(open, 'I6', () => `${run.id} is ${run.state} and was delivered again`);
  const free = run.state !== 'running' || run.leaseUntil === null || hasExpired(run, now);
  demand(free, 'I5', () => `${run.id} was delivered again while attempt ${run.attempt} holds it`);
  const { delivery } = reply;
  demand(delivery === run.delivery + 1, 'I9', () => `${run.id} got delivery ${delivery} after ${run.delivery}`);
  Object.assign(run, { delivery, deliveryNonce: request.nonce });
  saw('redeliver: again');
}
