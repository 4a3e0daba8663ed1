const JOBS = 'libs/jobs/src/';
const RELAY = `${JOBS}scheduling/outbox-relay.ts`;
const RELAY_SPEC = `${JOBS}scheduling/outbox-relay.spec.ts`;

/**
 * What brings a run to the queue that was asked for on somebody's own transaction, and what the queue does with it.
 * @type {readonly import('./mutation-lab.mjs').Mutant[]}
 */
export const OUTBOX_MUTANTS = [
  {
    name: 'relay: nobody listens',
    defence: 'a run is handed over as soon as its transaction has committed',
    file: `${JOBS}scheduling/scheduler-pod.ts`,
    find: 'if (watched < 3 && this.#relay) await this.#watch(this.#relay.watch());',
    replace: '',
    killedBy: RELAY_SPEC,
    test: 'at once when the transaction has committed',
  },
  {
    name: 'relay: nobody looks',
    defence: 'a hint that got lost costs seconds',
    file: `${JOBS}scheduling/scheduler-pod.ts`,
    find: '    this.#relay?.start();\n',
    replace: '',
    killedBy: RELAY_SPEC,
    test: 'when the hint got lost',
  },
  {
    name: 'relay: goes on after the pod has stopped',
    defence: 'a pod that stops leaves nothing behind',
    file: `${JOBS}scheduling/scheduler-pod.ts`,
    find: ', this.#relay?.stop()]',
    replace: ']',
    killedBy: RELAY_SPEC,
    test: 'leaves nothing behind',
  },
  {
    name: 'relay: a cron that was just taken over is not looked at',
    defence: 'a hint that came while a cron changed hands costs nothing',
    file: `${JOBS}scheduling/scheduler-pod.ts`,
    find: 'if (isManual(entry.definition.expression)) this.#relay?.look(entry.definition.name);',
    replace: '{}',
    killedBy: RELAY_SPEC,
    test: 'while its job changed hands',
  },
  {
    name: 'relay: every pod hands over what it hears of',
    defence: 'a crowd of pods costs what one costs',
    file: RELAY,
    find: 'if (this.deps.isMine(cron)) this.look(cron);',
    replace: 'this.look(cron);',
    killedBy: RELAY_SPEC,
    test: 'by one of the pods that hear of it',
  },
  {
    name: 'relay: the first hundred',
    defence: 'a transaction with a thousand jobs is handed over as a whole',
    file: RELAY,
    find: 'const MOST_ROUNDS = 50;',
    replace: 'const MOST_ROUNDS = 1;',
    killedBy: RELAY_SPEC,
    test: 'hundreds of others',
  },
  {
    name: 'relay: word that comes while runs are handed over is not heard',
    defence: 'a run that was triggered meanwhile does not wait for the next look',
    file: RELAY,
    find: 'if (under) return void (under.again = true);',
    replace: 'if (under) return;',
    killedBy: RELAY_SPEC,
    test: 'while others are handed over',
  },
  {
    name: 'relay: nobody sweeps what was handed over',
    defence: 'a run whose delivery or worker is lost comes back',
    file: RELAY,
    find: '      await this.deps.presence.announce(new Map([[cron, 0]]));\n',
    replace: '',
    killedBy: RELAY_SPEC,
    test: 'its cron is swept from then on',
  },
  {
    name: 'relay: a look that failed is the last one',
    defence: 'a ledger that was away for a moment is asked again',
    file: RELAY,
    find: "      this.deps.telemetry.emit('store.trouble', { doing: 'looking for runs to hand over', error: String(error) });",
    replace:
      "      this.deps.telemetry.emit('store.trouble', { doing: 'looking for runs to hand over', error: String(error) });\n      this.#stopped = true;",
    killedBy: RELAY_SPEC,
    test: 'after a look that failed',
  },
  {
    name: 'sweep: a hundred runs are forgotten at a time',
    defence: 'the history of a job that runs many times a second is bounded',
    file: `${JOBS}scheduling/recovery.ts`,
    find: 'const MOST_FORGETS = 20;',
    replace: 'const MOST_FORGETS = 1;',
    killedBy: `${JOBS}scheduling/recovery.spec.ts`,
    test: 'forgets hundreds of runs',
  },
  {
    name: 'queue: a delay is forgotten',
    defence: 'what is put off waits in the queue, and keeps no worker busy',
    file: `${JOBS}scheduling/bullmq-run-queue.ts`,
    find: '...(delayMs !== undefined && delayMs > 0 && { delay: Math.ceil(delayMs) }),',
    replace: '',
    killedBy: 'test/jobs/bullmq-run-queue.spec.ts',
    test: 'waits in it as long as it is put off',
  },
];
