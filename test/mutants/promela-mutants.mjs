const REPORT = 'test/model/report.ts';
const STEPS = 'test/model/steps.ts';
const DEFENCES = 'test/model/promela/defences.pml';
const EFFECT = 'test/model/promela/effect.pml';

/**
 * What makes the model's verdict worth something. The defences of the protocol are taken out by the model itself.
 * @type {readonly import('./mutation-lab.mjs').Mutant[]}
 */
export const PROMELA_MUTANTS = [
  {
    name: 'promela: a search that was cut short counts as exhaustive',
    defence: 'what was not looked at is not proved',
    file: REPORT,
    find: '!CUT_SHORT.test(text) && ',
    replace: '',
    killedBy: 'test/model/report.spec.ts',
    test: 'is not exhaustive after',
  },
  {
    name: 'promela: a checker that said nothing has found nothing',
    defence: 'a search that was killed is no proof',
    file: REPORT,
    find: 'if (errors === null) throw',
    replace: 'if (false) throw',
    killedBy: 'test/model/report.spec.ts',
    test: 'is no report when it says nothing of errors',
  },
  {
    name: 'promela: whatever broke is taken for a claim',
    defence: 'a defence counts only with the claim that is expected of it',
    file: STEPS,
    find: 'claim: isClaim(broken) ? broken : null',
    replace: "claim: broken === '' ? null : (broken as Claim)",
    killedBy: 'test/model/report.spec.ts',
    test: 'name no claim that is none',
  },
  {
    name: 'promela: two defences change their numbers',
    defence: 'the defence that is named is the one that is taken out',
    file: DEFENCES,
    find: '#define CLAIM_TERM 7\n#define CLAIM_CURSOR 8',
    replace: '#define CLAIM_TERM 8\n#define CLAIM_CURSOR 7',
    killedBy: 'test/model/vocabulary.spec.ts',
    test: 'numbers the defences as the list does',
  },
  {
    name: 'promela: a defence is no longer looked at',
    defence: 'every defence on the list can be taken out',
    file: EFFECT,
    find: ' && KEPT(EFFECT_DONE)',
    replace: '',
    killedBy: 'test/model/vocabulary.spec.ts',
    test: 'and looks at each',
  },
];
