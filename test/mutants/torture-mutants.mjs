const TORTURE = 'libs/jobs/src/testing/torture/';
const JOB = `${TORTURE}torture-job.spec.ts`;
const FINDINGS = `${TORTURE}findings.spec.ts`;
const APP = `${TORTURE}jobs-in.spec.ts`;

/**
 * What makes a torture of a job find what is not safe, and leave alone what is.
 * @type {readonly import('./mutation-lab.mjs').Mutant[]}
 */
export const TORTURE_MUTANTS = [
  {
    name: 'torture: a key that is handed on is not seen',
    defence: 'an effect that looks at its key is safe',
    file: `${TORTURE}recorder.ts`,
    find: 'watchedReads({ ...context }, (read) => call.reads.add(read), context)',
    replace: '{ ...context }',
    killedBy: JOB,
    test: 'that takes its key',
  },
  {
    name: 'torture: every repetition is told',
    defence: 'an effect that is called again and looks at nothing is not safe',
    file: `${TORTURE}findings.ts`,
    find: 'if (!call || calls.length < 2 || isTold ||',
    replace: 'if (!call || calls.length < 9 || isTold ||',
    killedBy: FINDINGS,
    test: 'a call that threw is none that came through',
  },
  {
    name: 'torture: what threw counts as done',
    defence: 'a call that threw is none that came through',
    file: `${TORTURE}findings.ts`,
    find: "calls.filter(({ ended }) => ended !== 'threw')",
    replace: 'calls.filter(() => true)',
    killedBy: FINDINGS,
    test: 'a call that threw is none that came through',
  },
  {
    name: 'torture: an attempt that was cut off counts as whole',
    defence: 'a name is another one only where its attempt came to its end',
    file: `${TORTURE}findings.ts`,
    find: 'later > attempt && ended.has(later)',
    replace: 'later > attempt',
    killedBy: FINDINGS,
    test: 'a name is another one only where',
  },
  {
    name: 'torture: a list that got shorter has other keys',
    defence: 'items that are done may fall out of a list',
    file: `${TORTURE}findings.ts`,
    find: 'if (all.size <= usual) return false;',
    replace: 'if (all.size < 1) return false;',
    killedBy: FINDINGS,
    test: 'a list that got shorter has no other keys',
  },
  {
    name: 'torture: a call that goes on beside another one is not seen',
    defence: 'an effect that goes on after its attempt was over is not safe',
    file: `${TORTURE}recorder.ts`,
    find: 'if (!atOnce) this.#closed(call);',
    replace: '',
    killedBy: JOB,
    test: 'that goes on after its attempt was over',
  },
  {
    name: 'torture: nobody is frozen in a call',
    defence: 'every kind of mishap happens',
    file: `${TORTURE}play.ts`,
    find: '    planned.struck = true;\n',
    replace: '',
    killedBy: JOB,
    test: 'lets everything happen that there is',
  },
  {
    name: 'torture: a swallowed refusal is not seen',
    defence: 'a handler that swallows a refusal is not safe',
    file: `${TORTURE}recorder.ts`,
    find: '      this.swallowed.push(...refused);\n',
    replace: '',
    killedBy: JOB,
    test: 'whose refusal the handler swallows',
  },
  {
    name: 'torture: the real clock is left in place',
    defence: 'a name made of the time is another one in another attempt, and the same one in another torture',
    file: `${TORTURE}fake-globals.ts`,
    find: "property === 'now' ? now :",
    replace: "property === 'never' ? now :",
    killedBy: JOB,
    test: 'whose name changes',
  },
  {
    name: 'torture: a job that fails by itself is fine',
    defence: 'a verdict needs a run that comes to its end',
    file: `${TORTURE}torture-job.ts`,
    find: " && this.#undisturbed?.state === 'succeeded'",
    replace: '',
    killedBy: JOB,
    test: 'is not content with a job that fails by itself',
  },
  {
    name: 'torture: a program that is deployed is tortured',
    defence: 'no crons are declared to a real store',
    file: `${TORTURE}nest-modules.ts`,
    find: 'type.name === OURS) return true;',
    replace: 'type.name === OURS) return false;',
    killedBy: APP,
    test: 'a module that would declare its crons to a real store is refused',
  },
  {
    name: 'items: one is called after a lookup that outlasted its attempt',
    defence: 'nothing begins when the attempt is over',
    file: 'libs/jobs/src/running/item-call.ts',
    find: '    this.deps.desk.ready();\n    return this.#act();',
    replace: '    return this.#act();',
    killedBy: 'libs/jobs/src/running/for-each-late-lookup.spec.ts',
    test: 'does not call an item whose lookup came back when its attempt was over',
  },
];
