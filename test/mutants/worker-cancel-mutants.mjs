const ATTEMPT = 'libs/jobs/src/running/attempt.ts';
const CARRY_OUT = 'libs/jobs/src/running/carry-out.ts';
const CANCELLATION = 'libs/jobs/src/running/cancellation.spec.ts';
const LOOKUP = 'libs/jobs/src/running/handler-lookup.spec.ts';

/**
 * What a worker makes of a cancellation, and of a run that it has no handler for.
 * @type {readonly import('./mutation-lab.mjs').Mutant[]}
 */
export const WORKER_CANCEL_MUTANTS = [
  {
    name: 'attempt: a cancelled handler fails',
    defence: 'a handler that was told to stop ends as cancelled, whatever it threw',
    file: ATTEMPT,
    find: "if (this.#cancelled) return { kind: 'cancelled', error: describeError(error) };",
    replace: '',
    killedBy: CANCELLATION,
    test: 'is finished as cancelled also by its last attempt',
  },
  {
    name: 'attempt: a cancelled run is reported as a failure',
    defence: 'a cancellation alarms nobody and is brought back by nobody',
    file: ATTEMPT,
    find: "if (state === 'cancelled') return this.#stopped(error);",
    replace: '',
    killedBy: CANCELLATION,
    test: 'is finished as cancelled, and not tried again',
  },
  {
    name: 'attempt: the signal says nothing of a cancellation',
    defence: 'a handler hears by its signal that it is to stop',
    file: ATTEMPT,
    find: 'this.#abort(new RunCancelledError(this.#ref.runId));',
    replace: '',
    killedBy: CANCELLATION,
    test: 'hears of it by its signal, once',
  },
  {
    name: 'heartbeat: a cancellation ends the heartbeat',
    defence: 'a handler that tidies up is not taken for dead',
    file: 'libs/jobs/src/running/heartbeat.ts',
    find: "if (reply === 'stale') return this.#lose('refused');",
    replace: "if (reply !== 'extended') return this.#lose('refused');",
    killedBy: CANCELLATION,
    test: 'is not taken for dead while it tidies up',
  },
  {
    name: 'heartbeat: a cancellation is told with every beat',
    defence: 'a handler is told once',
    file: 'libs/jobs/src/running/heartbeat.ts',
    find: 'if (this.#over || this.#cancelled) return;',
    replace: 'if (this.#over) return;',
    killedBy: 'libs/jobs/src/running/heartbeat.spec.ts',
    test: 'tells once that its run was cancelled',
  },
  {
    name: 'carry out: the run is not asked whose handler it wants',
    defence: 'a cron that was made at run time is carried out by the handler it names',
    file: CARRY_OUT,
    find: 'run.handler === null ? undefined : deps.handlerOf(run.handler)',
    replace: 'undefined',
    killedBy: LOOKUP,
    test: 'is carried out by the handler that its run names',
  },
  {
    name: 'carry out: nobody hears that no worker can do it',
    defence: 'a run that no worker has a handler for says so',
    file: CARRY_OUT,
    find: "if (run.waiting === null) await ledger.noteWaiting(runId, 'no-capable-worker');",
    replace: '',
    killedBy: LOOKUP,
    test: 'waits for another worker, and the ledger says why',
  },
  {
    name: 'carry out: the delivery of a run that is over comes back for ever',
    defence: 'a cancelled run that no worker has a handler for leaves the queue',
    file: CARRY_OUT,
    find: 'if (run === null || isOver(run)) return',
    replace: 'if (run === null) return',
    killedBy: LOOKUP,
    test: 'is settled when its run is over',
  },
];
