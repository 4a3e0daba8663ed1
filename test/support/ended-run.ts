import { randomUUID } from 'node:crypto';
import { LEDGER } from '@fencepost/jobs';
import type { Ledger } from '@fencepost/ledger';
import { CronOperator } from '@fencepost/operations';
import type { RunningApp } from './scheduler-app.js';

const BY = { by: 'test', reason: 'a test' };

/** Runs a cron as the store records it: no worker takes part, and no journal tells of it. */
export async function endRun({ app }: RunningApp, cron: string, kind: 'succeeded' | 'failed'): Promise<void> {
  const ledger = app.get<Ledger>(LEDGER, { strict: false });
  const reply = await app.get(CronOperator, { strict: false }).trigger(cron, { ...BY, force: true });
  if (reply.verdict !== 'claimed') throw new Error(`Expected ${cron} to run, got ${reply.verdict}.`);
  const nonce = randomUUID();
  const begun = await ledger.begin({ runId: reply.runId, nonce, worker: 'w/1', ttlMs: 60_000, maxAttempts: 1 });
  if (begun.verdict !== 'begun') throw new Error(`Expected a begin, got ${begun.verdict}.`);
  const attempt = { runId: reply.runId, nonce, fence: begun.fence };
  await ledger.finish(attempt, kind === 'failed' ? { kind, error: 'Error: no paper' } : { kind });
}
