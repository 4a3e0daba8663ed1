import { formatFence, type Fence } from '@fencepost/lease';
import { ownerPrefix } from '@fencepost/lease/internal';
import type { Run } from '@fencepost/ledger/run';
import { lateBy, took, outcomeIn } from './timeline-run.js';
import type { QueueLimits } from '@fencepost/jobs/internal';
import { limitsOn } from './queue-limits.js';
import { cronSteps, journalSteps } from './why-journal.js';
import { skippedRun } from './why-skip.js';
import { plural, spoken, utc } from './why-words.js';
import { step, type InstantFacts, type Verdict, type WhyStep } from './why.js';

/** What became of an instant that has a run. */
export function ofRun(instantFacts: InstantFacts, run: Run): Verdict {
  if (run.state === 'skipped') return skippedRun(instantFacts, run);
  const grace = instantFacts.entry.definition.graceMs;
  const steps = [
    ...claimSteps(instantFacts, run, grace),
    ...noiseBefore(instantFacts, run),
    ...enqueueSteps(run),
    ...queueSteps(instantFacts, run),
    ...attemptSteps(run, grace),
    ...journalSteps(instantFacts, run),
    ...effectSteps(instantFacts),
  ];
  return { ...conclusion(instantFacts, run), steps };
}

function claimSteps({ journal, context }: InstantFacts, run: Run, grace: number): WhyStep[] {
  const { claimedAt, claimedBy, claimFence, dueAt, reason, by, missed, generation } = run;
  const who = ownerPrefix(claimedBy);
  const asked =
    reason === 'schedule' || reason === 'catch-up' ? '' : ` It is a ${reason} run${by ? `, asked for by ${by}` : ''}.`;
  const text = `${who} claimed it at ${utc(claimedAt)} under fence ${formatFence(claimFence)}, generation ${generation}.${asked}`;
  const term = journal.find(
    ({ event, detail }) => event === 'lease.acquired' && detail['fence'] === formatFence(claimFence),
  );
  const held = term
    ? [
        step('lease', `${term.pod} held the lease of the cron from ${utc(term.at)} on, with this fence.`, {
          at: term.at,
        }),
      ]
    : [];
  const lateMs = claimedAt - dueAt;
  const isLate = lateMs > grace && context.at === run.scheduledAt && by === null;
  const late = `No pod claimed it until ${spoken(lateMs)} after it was due: no scheduler held the lease in the meantime.`;
  return [
    ...held,
    step('claim', text, { at: claimedAt }),
    ...(isLate ? [step('misfire', late, { at: claimedAt, level: 'warn' })] : []),
    ...(missed ? [step('misfire', standsFor(missed), { at: claimedAt, level: 'note' })] : []),
  ];
}

/** Claims that were refused and leases that were lost while it was due. */
function noiseBefore(instantFacts: InstantFacts, { dueAt, claimedAt }: Run): WhyStep[] {
  return cronSteps(instantFacts, dueAt - 1_000, claimedAt + 1_000).filter(({ level }) => level !== 'ok');
}

function standsFor({ count, from, to }: NonNullable<Run['missed']>): string {
  return `It also covers ${plural(count, 'missed instant')}, from ${utc(from)} to ${utc(to)}.`;
}

function enqueueSteps({ enqueuedAt, delivery, waiting, attempt, state }: Run): WhyStep[] {
  const steps: WhyStep[] = [];
  if (enqueuedAt === null) {
    if (attempt === 0) steps.push(step('enqueue', 'It is not in the queue yet.', { level: 'note' }));
  } else steps.push(step('enqueue', `It was enqueued at ${utc(enqueuedAt)}.`, { at: enqueuedAt }));
  if (delivery > 1) {
    steps.push(step('enqueue', `It was enqueued ${delivery} times.`, { level: 'note' }));
  }
  if (waiting !== null && state === 'enqueued') {
    const text = 'No live worker has its handler (no-capable-worker).';
    steps.push(step('enqueue', text, { level: 'bad' }));
  }
  return steps;
}

/** What is in the way of a run that waits in the queue: set by a person, so a person has to know. */
function queueSteps({ queues }: InstantFacts, { state }: Run): WhyStep[] {
  if (state !== 'enqueued') return [];
  return queues.flatMap(limitsOn).map(({ code, text, todo }) => {
    return step('enqueue', `${text} ${todo}`, { level: code === 'QUEUE_PAUSED' ? 'bad' : 'warn' });
  });
}

function attemptSteps(run: Run, grace: number): WhyStep[] {
  const { attempt, startedAt, attemptedAt, worker, fence, notBefore, cancel } = run;
  const steps: WhyStep[] = [];
  if (startedAt !== null && worker !== null) {
    const [lateMs, who] = [lateBy(run), ownerPrefix(worker)];
    const level = (lateMs ?? 0) > grace ? 'warn' : 'ok';
    const late = lateMs === null ? '' : `, ${spoken(lateMs)} after it was due`;
    const first = `The first attempt began at ${utc(startedAt)}${late}`;
    const where = attempt === 1 ? `, on ${who} under fence ${fenceOf(fence)}` : '';
    steps.push(step('attempt', `${first}${where}.`, { at: startedAt, level }));
    if (attempt > 1 && attemptedAt !== null) {
      const latest = `Attempt ${attempt} began at ${utc(attemptedAt)}, on ${who} under fence ${fenceOf(fence)}.`;
      steps.push(step('attempt', latest, { at: attemptedAt, level: 'note' }));
    }
  }
  if (run.state === 'enqueued' && notBefore !== null) {
    steps.push(
      step('attempt', `The next attempt begins no earlier than ${utc(notBefore)}.`, { at: notBefore, level: 'note' }),
    );
  }
  if (run.error !== null) steps.push(step('attempt', `Its error: ${run.error}`, { at: run.finishedAt, level: 'warn' }));
  if (cancel)
    steps.push(step('attempt', `${cancel.by} cancelled it at ${utc(cancel.at)}.`, { at: cancel.at, level: 'warn' }));
  return steps;
}

function effectSteps({ report }: InstantFacts): WhyStep[] {
  return (report?.effects ?? []).map(({ name, state, unknown, since, finishedAt, error }) => {
    const at = finishedAt ?? since;
    if (unknown)
      return step('effect', `The outcome of the effect "${name}" is unknown: it was begun at ${utc(since)}.`, {
        at,
        level: 'bad',
      });
    if (state === 'done') return step('effect', `The effect "${name}" is done, at ${utc(at)}.`, { at });
    if (state === 'begun')
      return step('effect', `The effect "${name}" was begun at ${utc(since)}.`, { at, level: 'note' });
    return step('effect', `The effect "${name}" failed: ${error ?? 'it failed'}.`, { at, level: 'warn' });
  });
}

function conclusion({ entry, queues }: InstantFacts, run: Run): Pick<Verdict, 'verdict' | 'answer'> {
  const grace = entry.definition.graceMs;
  const verdict = outcomeIn(run, grace);
  const late = lateBy(run);
  const end = run.finishedAt === null ? '' : ` at ${utc(run.finishedAt)}`;
  const tries = plural(run.attempt, 'attempt');
  switch (verdict) {
    case 'ran':
      return {
        verdict,
        answer: `It ran: ${late === null ? '' : `begun ${spoken(late)} after it was due, `}it succeeded${end}, after ${spoken(took(run) ?? 0)}.`,
      };
    case 'late':
      return {
        verdict,
        answer: `It ran late, ${spoken(late ?? 0)} after it was due (${delayOf(run)}), and succeeded${end}.`,
      };
    case 'retried':
      return { verdict, answer: `It ran, and succeeded${end} after ${tries}.` };
    case 'running':
      return {
        verdict,
        answer: `It is running: attempt ${run.attempt} goes on since ${utc(run.attemptedAt ?? run.claimedAt)}.`,
      };
    case 'failed':
      return {
        verdict,
        answer: `It ran and failed${end}, after ${tries}${run.error === null ? '' : `: ${run.error}`}`,
      };
    case 'cancelled':
      return { verdict, answer: `It was cancelled${end}${run.cancel ? ` by ${run.cancel.by}` : ''}.` };
    case 'uncertain':
      return {
        verdict,
        answer: `It waits for an operator: the outcome of its effect "${run.unresolvedEffect?.effect ?? '?'}" is unknown.`,
      };
    default:
      return { verdict: 'waiting', answer: waitingFor(run, queues) };
  }
}

/** Where the time went. */
function delayOf({ dueAt, claimedAt, enqueuedAt, startedAt }: Run): string {
  const queued = enqueuedAt ?? claimedAt;
  const parts = [
    ['no pod claimed it for', claimedAt - dueAt],
    ['it was not enqueued for', queued - claimedAt],
    ['no worker started it for', (startedAt ?? queued) - queued],
  ] as const;
  const [what, ms] = parts.reduce((most, part) => (part[1] > most[1] ? part : most));
  return `${what} ${spoken(ms)}`;
}

function waitingFor({ state, waiting, attempt, notBefore }: Run, queues: readonly QueueLimits[]): string {
  if (state === 'orphaned') return 'Its worker died after starting it; another worker takes it over.';
  if (waiting !== null) return 'It waits because no live worker has its handler.';
  if (attempt > 0)
    return `It failed ${plural(attempt, 'time')} and waits for its next attempt${notBefore === null ? '' : `, at ${utc(notBefore)}`}.`;
  if (state === 'claimed') return 'It is claimed but not in the queue yet.';
  const limits = queues.flatMap(limitsOn).map(({ text }) => text);
  return ['It is in the queue, and no worker has started it yet.', ...limits].join(' ');
}

function fenceOf(fence: Fence | null): string {
  return fence === null ? 'unknown' : formatFence(fence);
}
