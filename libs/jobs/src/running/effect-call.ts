import type { AttemptLog, BeginEffectReply, UnknownEffect } from '@fencepost/ledger';
import type { UnknownReason, UnresolvedEffect } from '@fencepost/ledger/run';
import { callEffect, type Act } from './call-effect.js';
import { describeError } from '../telemetry/describe-error.js';
import type { Lookup } from './effect-context.js';
import { EffectPayloadError } from './effect-errors.js';
import { decodeResult, encodeResult } from './effect-result.js';
import type { EffectSession } from './effect-session.js';
import { lookUp } from './look-up.js';
import {
  type EffectSettings,
  readEffectOptions,
  type EffectOptions,
  afterOrphaned,
  afterIndeterminate,
  firstWord,
  isAnother,
} from './effect-options.js';

type EffectOutcome = Parameters<AttemptLog['finishEffect']>[2];

type Go = Extract<BeginEffectReply, { verdict: 'go' }>;
type Done = Extract<BeginEffectReply, { verdict: 'done' }>;

/** An outcome that nobody knows, and what is to be done once its provider says that it did not happen. */
interface Indeterminate {
  readonly since: number;
  readonly ageMs: number;
  readonly unknownReason: UnknownReason;
  readonly notDone: () => Promise<unknown>;
}

interface EffectCallStart {
  readonly name: string;
  readonly act: Act<unknown>;
  readonly settings: EffectSettings;
}

/** One effect in one attempt: begun in the ledger, carried out, and recorded, in this order. */
class EffectCall {
  constructor(
    private readonly session: EffectSession,
    private readonly start: EffectCallStart,
  ) {}

  async execute(word = firstWord(this.start.settings)): Promise<unknown> {
    const { name, settings } = this.start;
    const { ledger, attempt, lease, telemetry } = this.session.deps;
    this.session.ready();
    this.session.tell('effect.beginning', name);
    const request = { name, ifUnknown: word, payloadHash: settings.payloadHash };
    const begun = await lease.retryWhileLeased('effect.begin', () => ledger.beginEffect(attempt, request));
    switch (begun.verdict) {
      case 'stale':
        throw this.session.stale(name);
      case 'done':
        return this.#known(begun);
      case 'unknown':
        return this.#orphaned(begun.unknown, word === 'go');
      case 'go':
        telemetry.emit('effect.begun', { ...this.session.about(name), unknown: begun.unknown !== null });
        return this.#act(begun);
    }
  }

  async #known({ result, payloadHash }: Done): Promise<unknown> {
    const { name, settings } = this.start;
    if (isAnother(payloadHash, settings.payloadHash)) throw new EffectPayloadError(name);
    this.session.tell('effect.known', name);
    return decodeResult(name, result, { schema: settings.schema, became: 'used' });
  }

  /** @param insisted whether the ledger was told already to begin it whatever it knows */
  async #orphaned(unknown: UnknownEffect, retried: boolean): Promise<unknown> {
    const next = afterOrphaned(unknown, this.start.settings);
    this.session.trouble('effect.unknown', this.start.name, 'an earlier attempt began it and recorded no outcome');
    if (next.step === 'ask') throw this.session.ask(this.#question(next.unknownReason, unknown.since));
    if (retried) throw this.session.ask(this.#question('lost', unknown.since));
    const again = () => this.execute('go');
    return next.step === 'again'
      ? again()
      : this.#lookUp(next.lookup, { ...unknown, unknownReason: 'lost', notDone: again });
  }

  async #act(begun: Go): Promise<unknown> {
    const { name, act, settings } = this.start;
    const since = begun.unknown?.since ?? this.session.deps.clock.now();
    await this.#stillMay(begun);
    const takeBack = settings.ifUnknown === 'ask' ? this.session.wouldAsk(this.#question('timeout', since)) : null;
    const onLate = (value: unknown) => void this.#late(value);
    const ended = await callEffect(act, { ...this.#callOptions(), traced: this.session.traced(name), onLate });
    takeBack?.();
    switch (ended.kind) {
      case 'returned':
        this.session.tell('effect.acted', name);
        return this.#record(ended.value);
      case 'failed':
        return this.#failed(ended.error, begun);
      case 'silent':
        return this.#indeterminate(ended.error, since);
    }
  }

  /** The ledger may have answered late. What was not called did not happen, and nobody shall have to ask about it. */
  async #stillMay(begun: Go): Promise<void> {
    try {
      this.session.deps.lease.check();
    } catch (reason) {
      if (begun.unknown === null) await this.#tryFinish({ kind: 'failed', error: 'it was not called' });
      throw reason;
    }
  }

  async #record(result: unknown): Promise<unknown> {
    const { name, settings } = this.start;
    const json = encodeResult(name, result);
    const value = await decodeResult(name, json, { schema: settings.schema, became: 'recorded' });
    const reply = await this.#finish({ kind: 'done', result: json });
    if (reply === 'late') this.session.tell('effect.late', name);
    if (reply === 'late' || reply === 'stale') throw this.session.stale(name);
    // Another attempt's late done stands already, and what it brought is what every attempt gets.
    if (reply === 'known') return this.execute();
    this.session.tell('effect.finished', name);
    return value;
  }

  async #failed(error: unknown, begun: Go): Promise<unknown> {
    const { name } = this.start;
    this.session.trouble('effect.failed', name, describeError(error));
    // That this call did not get through says nothing of the one before.
    if (begun.unknown !== null) throw error;
    const reply = await this.#tryFinish({ kind: 'failed', error: describeError(error) });
    if (reply === 'stale') throw this.session.stale(name);
    if (reply === 'known') return this.execute();
    throw error;
  }

  /** This attempt began it, and nobody knows how it ended. */
  async #indeterminate(error: unknown, since: number): Promise<unknown> {
    const { end, clock } = this.session.deps;
    this.session.trouble('effect.unknown', this.start.name, describeError(error));
    const next = afterIndeterminate(this.start.settings);
    if (next.step === 'ask') throw this.session.ask(this.#question(next.unknownReason, since), error);
    // The next attempt does what is to be done: this one may not, or its call may still get through.
    if (next.step === 'again' || end.over) throw error;
    const ageMs = Math.max(0, clock.now() - since);
    const notDone = () => Promise.reject(error);
    return this.#lookUp(next.lookup, { since, ageMs, unknownReason: 'timeout', notDone });
  }

  async #lookUp(lookup: Lookup<unknown>, indeterminate: Indeterminate): Promise<unknown> {
    const { name } = this.start;
    const { since, ageMs, unknownReason } = indeterminate;
    const answer = await lookUp(lookup, { ...this.#callOptions(), since, ageMs });
    if (answer === 'unknown') throw this.session.ask(this.#question(unknownReason, since));
    if (answer !== 'not-done') return this.#record(answer.done);
    const reply = await this.#finish({ kind: 'failed', error: 'its lookup found that it did not happen' });
    if (reply === 'known') return this.execute();
    if (reply !== 'recorded') throw this.session.stale(name);
    return indeterminate.notDone();
  }

  /** What comes back after its time is a fact all the same, also when the attempt is over. */
  async #late(value: unknown): Promise<void> {
    const { name, settings } = this.start;
    try {
      const json = encodeResult(name, value);
      await decodeResult(name, json, { schema: settings.schema, became: 'recorded' });
      const reply = await this.#finish({ kind: 'done', result: json });
      if (reply === 'stale') throw new Error('the ledger refused it');
      if (reply !== 'known') this.session.tell('effect.late', name);
    } catch (error) {
      this.session.trouble('effect.unrecorded', name, describeError(error));
    }
  }

  #finish(outcome: EffectOutcome) {
    const { ledger, attempt, lease } = this.session.deps;
    const { name } = this.start;
    return lease.retryWhileLeased('effect.finish', () => ledger.finishEffect(attempt, name, outcome));
  }

  /** What the handler threw says more than that it could not be recorded. */
  #tryFinish(outcome: EffectOutcome) {
    return this.#finish(outcome).catch(() => null);
  }

  #question(unknownReason: UnknownReason, since: number): UnresolvedEffect {
    return { effect: this.start.name, item: null, unknownReason, since };
  }

  #callOptions() {
    const { name, settings } = this.start;
    const { attempt, clock, end } = this.session.deps;
    const idempotencyKey = `${attempt.runId}/${name}`;
    return { name, idempotencyKey, fence: attempt.fence, clock, end, timeoutMs: settings.timeoutMs };
  }
}

/** Carries out one effect of an attempt. */
export async function runEffect<T, R>(
  session: EffectSession,
  { name, act }: { readonly name: string; readonly act: Act<T> },
  options: EffectOptions<T, R> | undefined,
): Promise<R> {
  session.reserve(name);
  const settings = readEffectOptions(name, options, session.deps.criticality);
  return (await new EffectCall(session, { name, act, settings }).execute()) as R;
}
