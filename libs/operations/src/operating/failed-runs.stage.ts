import { randomUUID } from 'node:crypto';
import type { CronDefinition } from '@fencepost/ledger/catalog';
import type { AttemptOutcome, AttemptRef, UnresolvedEffectRef } from '@fencepost/ledger';
import { RunOperator } from './run-operator.js';
import { OperatingStage } from '../../../../test/support/operating-stage.js';

export const ORDER = { by: 'ada', reason: 'a test' };
export const FAILED: AttemptOutcome = { kind: 'failed', error: 'Error: no' };

/** A cron that fires each second, ten seconds old, and may overlap. */
export async function failedRuns(over: Partial<CronDefinition> = { overlap: 'allow' }) {
  const stage = new OperatingStage();
  await stage.declare(over);
  await stage.clock.advance(10_000);
  return { stage, runs: new RunOperator(stage) };
}

type Runs = Awaited<ReturnType<typeof failedRuns>>;

export async function begin({ stage }: Runs, runId: string): Promise<AttemptRef> {
  const nonce = randomUUID();
  const reply = await stage.ledger.begin({ runId, nonce, worker: 'worker/1', ttlMs: 60_000, maxAttempts: 9 });
  if (reply.verdict !== 'begun') throw new Error(`Expected ${runId} to begin, got ${reply.verdict}.`);
  return { runId, nonce, fence: reply.fence };
}

/** A run of the second that has done `first`, and ended so. */
export async function ended(all: Runs, second: number, outcome: AttemptOutcome = FAILED): Promise<string> {
  const { stage } = all;
  await stage.claim(second, { payload: '{"n":1}', overlap: 'allow' });
  const attempt = await begin(all, stage.idOf(second));
  await stage.ledger.beginEffect(attempt, { name: 'first', ifUnknown: 'tell' });
  await stage.ledger.finishEffect(attempt, 'first', { kind: 'done', result: '"done"' });
  await stage.ledger.finish(attempt, outcome);
  return attempt.runId;
}

/** A run that asks what became of `mail`, or of an item of it. */
export async function uncertain(all: Runs, second: number, item: string | null = null): Promise<string> {
  const { stage } = all;
  await stage.claim(second, { overlap: 'allow' });
  const attempt = await begin(all, stage.idOf(second));
  const unresolvedEffect = { effect: 'mail', item, unknownReason: 'timeout' as const, since: stage.at(10) };
  if (item === null) await stage.ledger.beginEffect(attempt, { name: 'mail', ifUnknown: 'tell' });
  else {
    await stage.ledger.advanceItems(attempt, 'mail', { finished: [], begun: ['a', 'b', item] });
    const finished = [
      { key: 'a', kind: 'done' as const },
      { key: 'b', kind: 'failed' as const, error: 'no' },
    ];
    await stage.ledger.advanceItems(attempt, 'mail', { finished, begun: [] });
  }
  await stage.ledger.finish(attempt, { kind: 'uncertain', error: 'EffectUnknownError: mail', unresolvedEffect });
  return attempt.runId;
}

/** What the run asks now. */
export async function asked({ stage }: Runs, runId: string): Promise<UnresolvedEffectRef> {
  const run = await stage.ledger.readRun(runId);
  if (!run?.unresolvedEffect) throw new Error(`Expected ${runId} to wait for an answer, it is ${run?.state}.`);
  const { effect, item, since } = run.unresolvedEffect;
  return { attempt: run.attempt, effect, item, since };
}
