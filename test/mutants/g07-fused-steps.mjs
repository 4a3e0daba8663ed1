/** Steps of ledger and queue that are one, where both are on one server. */

const FUSED_CLAIMS = 'libs/jobs/src/queue/fused-claims-on-bullmq.spec.ts';

/** @type {readonly import('./mutation-lab.mjs').Mutant[]} */
export default [
  {
    name: 'fused claim: an accepted run gets no job',
    guards: 'G7',
    defence: 'a claim and the job of its run are one step',
    file: 'libs/ledger/src/redis/lua/claim-occurrences.lua',
    find: '  accepted[#accepted + 1] = id\n',
    replace: '',
    killedBy: FUSED_CLAIMS,
    test: 'claims and enqueues in one step',
  },
  {
    name: 'fused claim: the broken record of a cron leaves its neighbours without jobs',
    guards: 'G7',
    defence: 'a cron is its own trouble: what was claimed before it in the same call has its job',
    file: 'libs/ledger/src/redis/lua/claim-occurrences.lua',
    find: 'isolate_failure(claim, k, a, plan)',
    replace: 'claim(k, a, plan)',
    killedBy: FUSED_CLAIMS,
    test: 'its neighbours have their jobs',
  },
  {
    name: 'fused claim: the queue of a run is unknown, and it is claimed all the same',
    guards: 'G7',
    defence: 'a run is claimed only when it is known where its job goes',
    file: 'libs/jobs/src/queue/fused-claims.ts',
    find: 'await router.targets(requests.map(({ cron }) => `${cron}@0`));',
    replace:
      'await router.targets(requests.map(({ cron }) => `${cron}@0`)).catch(() => ({ queues: requests.map(() => UNROUTED_QUEUE) }));',
    killedBy: FUSED_CLAIMS,
    test: 'claims nothing while it is unknown where runs go',
  },
  {
    name: 'turn of a worker: completes a job whose run did not end',
    guards: 'G7',
    defence: 'a delivery is only over when its run has ended or goes on elsewhere',
    file: 'libs/jobs/src/queue/lua/turn-over-jobs.lua',
    find: ' or job.is_broken then return false',
    replace: 'then return false',
    killedBy: 'libs/jobs/src/running/run-steps-on-bullmq.spec.ts',
    test: 'are not completed while the record of the run is broken',
  },
];
