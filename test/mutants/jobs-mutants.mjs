const JOBS = 'libs/jobs/src/';
const EFFECTS = `${JOBS}running/effect-call.ts`;
const EFFECTS_SPEC = `${JOBS}running/effects.spec.ts`;
const HEARTBEAT = `${JOBS}running/heartbeat.ts`;
const HEARTBEAT_SPEC = `${JOBS}running/heartbeat.spec.ts`;
const ENDING = `${JOBS}running/ending.ts`;
const ENDING_SPEC = `${JOBS}running/ending.spec.ts`;
const RUN_QUEUE = `${JOBS}scheduling/bullmq-run-queue.ts`;
const KEPT_SPEC = 'test/jobs/kept-jobs.spec.ts';
const WRITE_ROW = 'libs/lease/src/lua/write-row.lua';
const ROWS_SPEC = 'test/lease/fenced-rows.spec.ts';
const RECOVERY = `${JOBS}scheduling/recovery.ts`;
const RECOVERY_SPEC = `${JOBS}scheduling/recovery.spec.ts`;

/**
 * What stands around the ledger: the sink, the attempt's own caution, and what puts back what a crash left.
 * @type {readonly import('./mutation-lab.mjs').Mutant[]}
 */
export const JOBS_MUTANTS = [
  {
    name: 'sink: the fence is not compared',
    defence: 'a write that was on its way when its attempt was taken over changes nothing',
    file: WRITE_ROW,
    find: 'if isStale(ARGV[1], seen) then',
    replace: 'if false then',
    killedBy: ROWS_SPEC,
    test: 'refuses a lower fence by one',
  },
  {
    name: 'sink: the idempotency key is not looked at',
    defence: 'an effect that is carried out again after a crash changes nothing',
    file: WRITE_ROW,
    find: "if redis.call('ZSCORE', KEYS[2], ARGV[2]) then",
    replace: 'if false then',
    killedBy: ROWS_SPEC,
    test: 'recognises a repeated write',
  },
  {
    name: 'effect: the ledger is asked, and its "stale" is not heard',
    defence: 'a stale attempt begins no effect',
    file: EFFECTS,
    find: "      case 'stale':\n        throw this.desk.stale(name);",
    replace: "      case 'stale':\n        return this.#act({ verdict: 'go', unknown: null });",
    killedBy: EFFECTS_SPEC,
    test: 'is refused by the ledger when it does not know',
  },
  {
    name: 'effect: what is known is carried out again',
    defence: 'a recorded done is returned, and never done again',
    file: EFFECTS,
    find: '        return this.#known(begun);',
    replace: '        await this.start.act({} as never);\n        return this.#known(begun);',
    killedBy: EFFECTS_SPEC,
    test: 'that is known is not carried out again',
  },
  {
    name: 'effect: a stale done goes on as if it were recorded',
    defence: 'an attempt stops at the first sign that it is not the current one',
    file: EFFECTS,
    find: "    if (reply === 'late' || reply === 'stale') throw this.desk.stale(name);",
    replace: '',
    killedBy: EFFECTS_SPEC,
    test: 'that acted before it was taken over',
  },
  {
    name: "effect: another attempt's done is overwritten in the handler's eyes",
    defence: 'every attempt gets the result that is recorded',
    file: EFFECTS,
    find: "what every attempt gets.\n    if (reply === 'known') return this.carryOut();",
    replace: '',
    killedBy: EFFECTS_SPEC,
    test: 'brings what that one reports in the end',
  },
  {
    name: 'heartbeat: a refusal is not heard',
    defence: 'a handler is told at once when its run belongs to somebody else',
    file: HEARTBEAT,
    find: "      if (reply === 'stale') return this.#lose('refused');",
    replace: '',
    killedBy: HEARTBEAT_SPEC,
    test: 'has lost the run when the ledger refuses it',
  },
  {
    name: 'heartbeat: a sleep of the machine is not noticed',
    defence: 'the monotonic clock stands still while a machine sleeps, and every deadline with it',
    file: HEARTBEAT,
    find: 'if (Math.abs(now.wall - before.wall - passed) > JUMP_MS)',
    replace: 'if (false)',
    killedBy: HEARTBEAT_SPEC,
    test: 'notices a jump as soon as somebody asks',
  },
  {
    name: 'ending: a signal that was given out does not abort',
    defence: 'a handler hears by its signal that it may not go on',
    file: ENDING,
    find: '    this.#controller?.abort(reason);',
    replace: '',
    killedBy: ENDING_SPEC,
    test: 'tells its watcher and its signal why',
  },
  {
    name: 'ending: a signal that is asked for afterwards does not abort',
    defence: 'a handler that looks at its signal late hears what has happened before',
    file: ENDING,
    find: 'if (this.#over) this.#controller.abort(this.#reason);',
    replace: '',
    killedBy: ENDING_SPEC,
    test: 'is told also to who asks for the signal',
  },
  {
    name: 'ending: the signal is lost in a copy',
    defence: 'a handler may hand its run on in parts',
    file: ENDING,
    find: '  enumerable: true,',
    replace: '',
    killedBy: ENDING_SPEC,
    test: 'can be taken apart and copied',
  },
  {
    name: 'attempt: what the queue gives up is not heard',
    defence: 'a handler hears of a worker that stops, and of a job that another worker has',
    file: `${JOBS}running/attempt.ts`,
    find: '    carrier.givenUp.watch((reason) => this.#abort(reason));',
    replace: '',
    killedBy: `${JOBS}running/carry-out.spec.ts`,
    test: 'tells its handler',
  },
  {
    name: 'attempt: what the queue gave up afterwards is heard',
    defence: 'an attempt that is over is not reported as aborted',
    file: `${JOBS}running/attempt.ts`,
    find: '      carrier.givenUp.unwatch();',
    replace: '',
    killedBy: `${JOBS}running/carry-out.spec.ts`,
    test: 'hears nothing of a queue that gives it up',
  },
  {
    name: 'queue: completed jobs are kept for ever',
    defence: 'the queue does not fill its server with what is done',
    file: RUN_QUEUE,
    find: '          removeOnComplete: KEEP,',
    replace: '',
    killedBy: KEPT_SPEC,
    test: 'completed',
  },
  {
    name: 'queue: failed jobs are kept for ever',
    defence: 'the queue does not fill its server with what went wrong',
    file: RUN_QUEUE,
    find: '          removeOnFail: KEEP,',
    replace: '',
    killedBy: KEPT_SPEC,
    test: 'failed',
  },
  {
    name: 'recovery: a new holder does not read what is pending',
    defence: 'an occurrence that was claimed and never enqueued runs all the same',
    file: RECOVERY,
    find: 'const pending = await this.deps.ledger.pending(cron);',
    replace: 'const pending: Delivery[] = [];',
    killedBy: RECOVERY_SPEC,
    test: 'enqueues what its predecessor claimed and never enqueued',
  },
  {
    name: 'recovery: a lost worker is believed to be at it while the queue says so',
    defence: 'the ledger, and not the queue, knows whether a worker is gone',
    file: RECOVERY,
    find: "const gone = overdue.filter(({ state }) => state === 'running');",
    replace: 'const gone: OverdueRun[] = [];',
    killedBy: RECOVERY_SPEC,
    test: 'hands a run whose worker is gone to another one',
  },
  {
    name: 'engine: a cron that can not be enqueued is never given up',
    defence: 'a pod that has lost its way to the queue lets another one try',
    file: `${JOBS}scheduling/engine.ts`,
    find: "    if (held.failures === MOST_FAILURES) return this.#drop(held, 'failing');",
    replace: '',
    killedBy: `${JOBS}scheduling/engine-outage.spec.ts`,
    test: 'gives a cron up that it can claim and never enqueue',
  },
  {
    name: 'start: one answer that came too late ends it',
    defence: 'a busy machine is no reason for a pod not to start',
    file: `${JOBS}nest/insist.ts`,
    find: 'const MOST_TRIES = 5;',
    replace: 'const MOST_TRIES = 1;',
    killedBy: `${JOBS}nest/insist.spec.ts`,
    test: 'asks again after an answer that did not come',
  },
];
