import type { ClaimReply, ClaimRequest, TriggerReply, TriggerRequest } from '@fencepost/ledger';
import { isTerminal, occurrenceId } from '@fencepost/ledger/run';
import type { LedgerBranch } from './branches.js';
import { isPaused, newRun, type KnownCron } from './known.js';
import type { Seen } from './violation.js';
import { demand } from './violation.js';

/** The most that a pod's clock may run ahead of the store's before its claim has to be refused. */
const MAX_EARLY_MS = 10;

const REFUSED: Partial<Record<ClaimReply['verdict'], LedgerBranch>> = {
  stale: 'claim: stale',
  'stale-definition': 'claim: stale definition',
  early: 'claim: early',
  moved: 'claim: moved',
};

export function judgeClaim(seen: Seen<ClaimRequest, ClaimReply>): void {
  const { cron, request, reply, saw } = seen;
  const refused = REFUSED[reply.verdict];
  if (refused) return saw(refused);
  if (cron.decisions.has(request.nonce) && endOf(request) <= (cron.cursor ?? 0)) return saw('claim: repeated');
  checkNew(seen);
  checkFence(seen);
  checkCursor(seen);
  checkPause(seen);
  checkGrace(seen);
  const { fence, term, generation, nonce } = request;
  cron.decisions.add(nonce);
  Object.assign(cron, { fence, term, generation, cursor: endOf(request) });
  tellSkips(seen);
  if (reply.verdict === 'recorded' || (reply.verdict === 'skipped' && reply.reason === 'paused')) return;
  addOccurrence(seen);
}

/** I3: never below what was accepted, and the same only for the same term; and never for an older definition. */
function checkFence({ cron, request }: Seen<ClaimRequest, ClaimReply>): void {
  const { fence, term, generation } = request;
  const fits = fence > cron.fence || (fence === cron.fence && term === (cron.term ?? term));
  demand(fits, 'I3', () => `${cron.name} accepted fence ${fence} (${term}) after ${cron.fence} (${cron.term})`);
  const current = generation >= cron.generation;
  demand(current, 'I3', () => `${cron.name} accepted generation ${generation} after ${cron.generation}`);
}

/** I2, as far as one claim goes: it starts where the last one ended, goes on, and says of each stretch once what became of it. */
function checkCursor({ cron, request, now }: Seen<ClaimRequest, ClaimReply>): void {
  const end = endOf(request);
  const { occurrence, spreadMs = 0 } = request;
  const follows = request.cursor === cron.cursor && end > (cron.cursor ?? 0);
  demand(follows, 'I2', () => `${cron.name} went from ${cron.cursor} to ${end} by a plan from ${request.cursor}`);
  let through = cron.cursor ?? 0;
  for (const skip of request.skips) {
    const apart = through <= skip.after && skip.after < skip.through;
    demand(apart, 'I2', () => `${cron.name} skips (${skip.after}, ${skip.through}] after ${through}`);
    through = skip.through;
  }
  demand(through < end || !occurrence, 'I1', () => `${cron.name} skips ${end} and runs it`);
  const due = occurrence?.dueAt ?? end + spreadMs;
  demand(due <= now + MAX_EARLY_MS, 'I2', () => `${cron.name} went on to ${end}, due in ${due - now} ms`);
}

function checkPause({ cron, request, reply, now }: Seen<ClaimRequest, ClaimReply>): void {
  if (!request.occurrence) return;
  const paused = reply.verdict === 'skipped' && reply.reason === 'paused';
  const [is, was] = [isPaused(cron, now) ? 'is paused' : 'is not paused', paused ? 'skipped' : 'claimed'];
  demand(paused === isPaused(cron, now), 'pause', () => `${cron.name} ${is}, and ${endOf(request)} was ${was}`);
}

function checkGrace({ cron, request: { skips, spreadMs = 0 }, graceMs, now }: Seen<ClaimRequest, ClaimReply>): void {
  for (const { reason, through } of skips) {
    const lateByMs = now - through - spreadMs;
    const text = () => `${cron.name} left out ${through} as a misfire, ${lateByMs} ms late and within its grace`;
    demand(reason !== 'misfire' || lateByMs > graceMs, 'grace', text);
  }
}

function tellSkips({ request, reply, saw }: Seen<ClaimRequest, ClaimReply>): void {
  for (const { reason } of request.skips) {
    if (reason === 'merged') saw('claim: merged');
    if (reason === 'misfire') saw('claim: misfire');
  }
  if (reply.verdict === 'skipped') saw(reply.reason === 'paused' ? 'claim: paused' : 'claim: overlap');
}

/** I1: this instant never had a run. */
function checkNew({ cron, request }: Seen<ClaimRequest, ClaimReply>): void {
  const { occurrence, holder } = request;
  const id = occurrence && occurrenceId({ cron: cron.name, scheduledAt: occurrence.scheduledAt });
  demand(id === null || !cron.runs.has(id), 'I1', () => `${id} was claimed again, by ${holder}`);
}

function addOccurrence({ cron, request, reply, records, saw }: Seen<ClaimRequest, ClaimReply>): void {
  const id = occurrenceId({ cron: cron.name, scheduledAt: endOf(request) });
  const state = reply.verdict === 'claimed' ? 'claimed' : 'skipped';
  demand(records.get(id)?.state === state, 'table', () => `${id} is ${records.get(id)?.state} after it was ${state}`);
  if (request.occurrence?.reason === 'catch-up') saw('claim: catch-up');
  add(cron, { ...request, id, state });
}

function endOf({ occurrence, skips }: ClaimRequest): number {
  return occurrence?.scheduledAt ?? skips.at(-1)?.through ?? 0;
}

interface Newcomer extends Pick<ClaimRequest, 'overlap' | 'maxConcurrency'> {
  readonly id: string;
  readonly state: 'claimed' | 'skipped';
}

function add(cron: KnownCron, { id, state, overlap, maxConcurrency = 1 }: Newcomer): void {
  cron.runs.set(id, { ...newRun(id, state), capacity: overlap === 'allow' ? Infinity : maxConcurrency });
  if (!isTerminal(state)) cron.open.add(id);
}

export function judgeTrigger(seen: Seen<TriggerRequest, TriggerReply>): void {
  const { cron, request, reply, saw } = seen;
  const { runId, nonce } = request;
  if (reply.verdict === 'exists') return saw('trigger: exists');
  if (reply.verdict !== 'claimed' && reply.verdict !== 'skipped') return;
  if (cron.decisions.has(nonce) && cron.runs.has(runId)) return saw('claim: repeated');
  demand(!cron.runs.has(runId), 'I1', () => `${runId} was made again, by ${request.by}`);
  checkBehind(seen);
  cron.decisions.add(nonce);
  add(cron, { ...request, id: runId, state: reply.verdict });
  if (reply.verdict === 'claimed') copyDone(cron, request);
  if (reply.verdict === 'skipped') saw('trigger: overlap');
  else saw(request.reason === 'backfill' ? 'backfill: accepted' : 'trigger: accepted');
}

/** I1: an instant that is ahead is the schedule's own; a cron that never fired has come as far as its creation. */
function checkBehind({ cron, request }: Seen<TriggerRequest, TriggerReply>): void {
  const { runId, scheduledAt, cronSince = null } = request;
  const reached = cron.cursor ?? cronSince;
  const behind = scheduledAt === null || (reached !== null && scheduledAt <= reached);
  demand(behind, 'I1', () => `${runId} was made for an instant that is ahead of ${cron.cursor}`);
}

/** What is done of the run that is to be done again is done for this one too. */
function copyDone({ runs }: KnownCron, { runId, rerunOf }: TriggerRequest): void {
  const [from, to] = [runs.get(rerunOf ?? ''), runs.get(runId)];
  for (const [name, effect] of from?.effects ?? []) if (effect.state === 'done') to?.effects.set(name, { ...effect });
  for (const [name, items] of from?.items ?? []) {
    to?.items.set(name, new Map([...items].filter(([, { state }]) => state === 'done')));
  }
}
