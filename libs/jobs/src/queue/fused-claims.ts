import { loadScripts, type RedisScript } from '@fencepost/lease/internal/redis';
import type { RedisClient } from '@fencepost/lease/redis';
import type { ClaimReply, ClaimRequest } from '@fencepost/ledger';
import { ADD_JOBS, ADD_KEYS } from './batching-backend.js';
import { runJobTexts } from './run-job.js';
import type { RunQueues } from './run-queues.js';
import type { RunRouter, Targets } from './run-router.js';
import type { Claims, ClaimStep } from './run-queue.js';
import type { UnroutedRuns } from './unrouted.js';
import { TEXTS } from './lua/texts.js';

const { 'enqueue-claimed': ENQUEUE } = loadScripts(TEXTS, ['enqueue-claimed']);

const JOB_TEXTS = runJobTexts();

export interface FusedClaimsDeps {
  /** A connection to the server of the ledger. */
  readonly redis: RedisClient;
  readonly step: ClaimStep;
  readonly queues: Pick<RunQueues, 'named' | 'note'>;
  readonly router: Pick<RunRouter, 'targets'>;
  readonly unrouted?: UnroutedRuns | undefined;
}

type Outcome = PromiseSettledResult<ClaimReply>;

/** Claims occurrences, and adds the jobs of accepted ones in the same script, one call per queue. */
export class FusedClaims implements Claims {
  readonly #script: RedisScript;

  constructor(private readonly deps: FusedClaimsDeps) {
    this.#script = ENQUEUE.calling({ claim_occurrences: { text: deps.step.lua }, add_jobs: ADD_JOBS });
  }

  /** @throws what the router throws: nothing is claimed then */
  async claimAll(requests: readonly ClaimRequest[]): Promise<Outcome[]> {
    const { queues, router, step } = this.deps;
    const { queues: targets, taken } = await router.targets(requests.map(({ cron }) => `${cron}@0`));
    await queues.note(targets);
    const names = [...new Set(targets)];
    const claiming: Promise<Outcome[]>[] = [];
    for (const name of names) {
      const claims = requests.filter((_, n) => targets[n] === name);
      claiming.push(step.claimAll(claims, this.#sendTo(name)));
    }
    const claimed = await Promise.all(claiming);
    const next = new Map(names.map((name, n) => [name, claimed[n]?.values()]));
    const outcomes = targets.map((name) => next.get(name)?.next().value as Outcome);
    await this.#follow(outcomes, { queues: targets, taken });
    return outcomes;
  }

  #sendTo(name: string): Parameters<ClaimStep['claimAll']>[1] {
    const { redis, queues } = this.deps;
    const queue = queues.named(name);
    const queueKeys = ADD_KEYS.map((key) => queue.toKey(key));
    const jobs = [queue.toKey(''), Date.now(), ...JOB_TEXTS];
    return (keys, args) => this.#script.run(redis, keys.concat(queueKeys), args.concat(jobs));
  }

  /** Notes which of the claimed runs have no worker. */
  async #follow(outcomes: readonly Outcome[], { queues, taken }: Targets): Promise<void> {
    const runs = outcomes.flatMap((one, n) => {
      const queue = queues[n];
      if (one.status === 'rejected' || one.value.verdict !== 'claimed' || queue === undefined) return [];
      return [{ runId: one.value.runId, queue }];
    });
    const targets = { queues: runs.map(({ queue }) => queue), taken };
    await this.deps.unrouted?.follow(
      runs.map(({ runId }) => runId),
      targets,
    );
  }
}
