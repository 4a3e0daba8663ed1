const RUNNING = 'libs/jobs/src/running/';
const POLICY = `${RUNNING}effect-policy.ts`;
const CALL = `${RUNNING}effect-call.ts`;
const CALLING = `${RUNNING}call-effect.ts`;
const DESK = `${RUNNING}effect-desk.ts`;
const ATTEMPT = `${RUNNING}attempt.ts`;
const LIMIT = `${RUNNING}attempt-timeout.ts`;
const UNKNOWN = `${RUNNING}effect-unknown.spec.ts`;
const SILENCE = `${RUNNING}effect-silence.spec.ts`;
const CRASH = `${RUNNING}effect-crash.spec.ts`;
const EACH = `${RUNNING}for-each.spec.ts`;
const TIMEOUT = `${RUNNING}attempt-timeout.spec.ts`;

/**
 * What is done about an outcome that nobody knows: nothing is guessed, nothing is repeated unasked, no fact is lost.
 * @type {readonly import('./mutation-lab.mjs').Mutant[]}
 */
export const EFFECT_POLICY_MUTANTS = [
  {
    name: 'effect policy: what is to be asked about is begun without a look',
    defence: 'an effect that is asked about is never begun over one whose outcome nobody knows',
    file: POLICY,
    find: "return ifUnknown === 'retry' && keyTtlMs === null ? 'go' : 'tell';",
    replace: "return 'go';",
    killedBy: `${RUNNING}effect-policy.spec.ts`,
  },
  {
    name: 'effect policy: a lost effect that is to be asked about is repeated',
    defence: 'an effect that is asked about is never repeated by itself',
    file: POLICY,
    find: "  if (ifUnknown === 'ask') return { step: 'ask', doubt: 'lost' };\n",
    replace: '',
    killedBy: CRASH,
    test: 'wherever a worker dies',
  },
  {
    name: 'effect policy: another payload goes out under the same key',
    defence: 'a changed payload under a key is noticed and asked about',
    file: POLICY,
    find: '  if (isAnother(unknown.payloadHash, policy.payloadHash)) return',
    replace: '  if (false) return',
    killedBy: UNKNOWN,
    test: 'and that has another payload now is asked about',
  },
  {
    name: 'effect policy: a key that its provider forgot is used again',
    defence: 'what was begun longer ago than its key is remembered is not repeated',
    file: POLICY,
    find: 'unknown.ageMs >= keyTtlMs',
    replace: 'false',
    killedBy: UNKNOWN,
    test: 'is repeated while its provider remembers its key',
  },
  {
    name: 'effect policy: a silence under "ask" is only an error',
    defence: 'an effect that does not come back in time makes its run uncertain at once',
    file: POLICY,
    find: "return ifUnknown === 'ask' ? { step: 'ask', doubt: 'timeout' } : { step: 'again' };",
    replace: "return { step: 'again' };",
    killedBy: SILENCE,
    test: 'is asked about at once under "ask"',
  },
  {
    name: 'effect: an abort counts as a failure',
    defence: 'what threw because its attempt was told to stop may have happened',
    file: CALLING,
    find: 'end.over || isSilence(error)',
    replace: 'isSilence(error)',
    killedBy: SILENCE,
    test: 'because its attempt was told to stop has not failed',
  },
  {
    name: 'effect: a handler that does not know is taken to have failed',
    defence: 'who throws EffectUnknownError says that nobody knows',
    file: 'libs/jobs/src/running/silence.ts',
    find: '    if (inner instanceof EffectUnknownError || inner instanceof EffectAskedError) return true;\n',
    replace: '',
    killedBy: SILENCE,
    test: 'because it says so is not recorded as failed',
  },
  {
    name: 'effect: a connection that breaks says no',
    defence: 'what may have got through before the connection broke is unknown, and has not failed',
    file: 'libs/jobs/src/running/silence.ts',
    find: " || CODES.has(Reflect.get(inner, 'code'))",
    replace: '',
    killedBy: 'libs/jobs/src/running/silence.spec.ts',
  },
  {
    name: 'effect: only the outermost error is looked at',
    defence: 'fetch says only that it failed, and its cause says that the connection broke',
    file: 'libs/jobs/src/running/silence.ts',
    find: 'inner = inner.cause;',
    replace: 'break;',
    killedBy: 'libs/jobs/src/running/silence.spec.ts',
  },
  {
    name: 'effect: what comes back late is forgotten',
    defence: 'a late done is kept as a fact',
    file: CALLING,
    find: 'work.then(onLate, () => {});',
    replace: 'work.catch(() => {});',
    killedBy: SILENCE,
    test: 'and comes back later is a fact',
  },
  {
    name: 'effect: the end of the attempt is not heard by an effect with a timeout',
    defence: "an effect's signal aborts when its attempt may not go on",
    file: CALLING,
    find: "  end.signal.addEventListener('abort', pass, { once: true });\n",
    replace: '',
    killedBy: SILENCE,
    test: 'hears of the end of its attempt',
  },
  {
    name: 'effect: a failure clears the doubt of an earlier call',
    defence: 'that one call did not get through says nothing of the one before',
    file: CALL,
    find: '    if (begun.unknown !== null) throw error;\n',
    replace: '',
    killedBy: SILENCE,
    test: 'leaves its doubt when a later call fails',
  },
  {
    name: 'effect: a failure is not recorded',
    defence: "what has not happened is nobody's question",
    file: CALL,
    find: "const reply = await this.#tryFinish({ kind: 'failed', error: describeError(error) });",
    replace: "const reply: string = 'recorded';",
    killedBy: `${RUNNING}effects.spec.ts`,
    test: 'is recorded as one that has not happened',
  },
  {
    name: 'effect: what did not come back in time and was looked up is begun again at once',
    defence: 'a call that was given up may still get through while the next one would be on its way',
    file: CALL,
    find: 'const notDone = () => Promise.reject(error);',
    replace: "const notDone = () => this.carryOut('go');",
    killedBy: SILENCE,
    test: 'is left to the next attempt, for the call may still get through',
  },
  {
    name: 'effect: a done effect takes any payload',
    defence: 'a result that another payload brought is not handed out',
    file: CALL,
    find: '    if (isAnother(payloadHash, settings.payloadHash)) throw new EffectPayloadError(name);\n',
    replace: '',
    killedBy: SILENCE,
    test: 'with another payload is refused for good',
  },
  {
    name: 'effect: an attempt that asks goes on',
    defence: 'nothing more begins in an attempt that waits for a person',
    file: DESK,
    find: '    if (this.#asked) throw this.#asked;\n',
    replace: '',
    killedBy: UNKNOWN,
    test: 'begins no other effect, and asks its first question',
  },
  {
    name: "effect: the key of an item can be an effect's",
    defence: 'no two effects of a run have the same idempotency key',
    file: DESK,
    find: '    if (this.#rooms.has(room)) throw',
    replace: '    if (false) throw',
    killedBy: EACH,
    test: 'under which no effect can take the key of an item',
  },
  {
    name: 'attempt: a handler that swallows a question succeeds',
    defence: 'an attempt with an open question ends uncertain, whatever its handler makes of it',
    file: ATTEMPT,
    find: '      if (this.#desk?.asked) return await this.#doubt(this.#desk.asked);\n',
    replace: '',
    killedBy: UNKNOWN,
    test: 'the run becomes uncertain, also when its handler lets nothing pass',
  },
  {
    name: 'attempt: a handler is waited for however long it takes',
    defence: 'a handler that heeds no signal does not hold its run for ever',
    file: LIMIT,
    find: '        reject(error);\n',
    replace: '',
    killedBy: TIMEOUT,
    test: 'and never ends is left after its grace',
  },
  {
    name: 'attempt: one that is left forgets what it was about to ask',
    defence: 'the last attempt does not fail over an effect whose outcome is to be asked about',
    file: LIMIT,
    find: '        onLeft();\n',
    replace: '',
    killedBy: TIMEOUT,
    test: 'and is left in an effect that is to be asked about ends uncertain',
  },
];
