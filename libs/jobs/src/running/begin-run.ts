import { sleep } from '@fencepost/lease/internal';
import { NotReplicatedError } from '@fencepost/lease/redis';
import type { BeginReply, BeginRequest } from '@fencepost/ledger';
import { cronOfRun } from '@fencepost/ledger/run';
import type { AttemptDeps, Delivery } from './delivery.js';
import { reportStoreFailure } from '../telemetry/report-failure.js';

/**
 * Begins, and asks again with the same nonce while replicas are away: an attempt that was given up then would be used up
 * without a handler having seen it, and an outage of the replicas would use up all of them.
 *
 * For half the run lease at the most, counted from the first time: a later answer leaves too little of it for a heartbeat.
 */
export async function beginRun(deps: AttemptDeps, delivery: Delivery, request: BeginRequest): Promise<BeginReply> {
  const { ledger, clock, telemetry } = deps;
  const until = clock.monotonic() + request.ttlMs / 2;
  for (;;) {
    try {
      return await ledger.begin(request);
    } catch (error) {
      const isOver = delivery.givenUp.over || clock.monotonic() >= until;
      if (!(error instanceof NotReplicatedError) || isOver) throw error;
      const { runId } = request;
      reportStoreFailure(telemetry, { operation: 'attempt.begin', cron: cronOfRun(runId), runId }, error);
      await sleep(clock, request.ttlMs / 12);
    }
  }
}
