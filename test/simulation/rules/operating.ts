import type { CronRecord, OperatorOrder, ResolveReply, ResolveRequest } from '../../../libs/ledger/src/base/ledger.js';
import type { Pause } from '../../../libs/ledger/src/base/run.js';
import { itemsOf } from './items.js';
import type { KnownRun } from './known.js';
import type { Seen } from './seen.js';
import { demand } from './violation.js';

type Pausing = OperatorOrder & { readonly until: number | null };

export function judgePause({ cron, request: { until } }: Seen<Pausing, Pause>): void {
  cron.paused = { until };
}

export function judgeResume({ cron }: Seen<OperatorOrder, Pause | null>): void {
  cron.paused = null;
}

type Resolving = ResolveRequest & { readonly runId: string };

/** I6, I7: only what waits is answered, and an answer is worth one attempt. */
export function judgeResolve({ cron, request, reply, saw }: Seen<Resolving, ResolveReply>): void {
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
export function judgeReadCron({ cron, reply }: Seen<string, CronRecord>): void {
  const { fence, cursor, generation } = reply;
  demand(fence === cron.fence, 'I3', () => `${cron.name} shows fence ${fence}, and accepted ${cron.fence}`);
  demand(cursor === cron.cursor, 'I2', () => `${cron.name} shows cursor ${cursor}, and went on to ${cron.cursor}`);
  const same = generation === cron.generation;
  demand(same, 'I3', () => `${cron.name} shows generation ${generation}, and accepted ${cron.generation}`);
}
