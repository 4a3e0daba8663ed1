import type { RunHistory } from '@fencepost/ledger';
import { cronOfRun } from '@fencepost/ledger/run';

/** What the audit record of an order to a run says of the run, as it was before. */
export async function runBefore(ledger: Pick<RunHistory, 'readRun'>, runId: string) {
  const run = await ledger.readRun(runId);
  const { cron, state, attempt, unresolvedEffect } = run ?? {
    cron: cronOfRun(runId),
    state: null,
    attempt: 0,
    unresolvedEffect: null,
  };
  return {
    runId,
    cron,
    before: { state, attempt, ...(unresolvedEffect && { unresolvedEffect: unresolvedEffect.effect }) },
  };
}
