import type { AttemptLog, BeginEffectReply, UnknownEffect } from '@fencepost/ledger';
import type { UnknownReason, UnresolvedEffect } from '@fencepost/ledger/run';
import { callEffect, lookUp, type Act } from './call-effect.js';
import { describeError } from '../telemetry/report-failure.js';
import type { Lookup } from './effect-options.js';
import { EffectPayloadError } from './errors.js';
import { decodeResult, encodeResult } from './effect-result.js';
import type { EffectSession } from './effect-session.js';
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

/** An unknown outcome, and the step to take if the provider says that the effect did not happen. */
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

const ORPHANED = 'An earlier attempt began this effect and recorded no outcome.';

/** One effect in one attempt: begun in the ledger, executed, and recorded, in this order. */
class EffectCall {
  constructor(
    private readonly session: EffectSession,
    private readonly start: EffectCallStart,
  ) {}

  async execute(word = firstWord(this.start.settings)): Promise<unknown> {
    const { name, settings } = this.start;
    const { ledger, attempt, lease, telemetry } = this.session.deps;
    this.session.ready();
    this.session.emit('effect.beginning', name);
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
    this.session.emit('effect.known', name);
    return decodeResult(name, result, { schema: settings.schema, became: 'used' });
  }

  /** @param retried whether the ledger was already asked to begin it in any case */
  async #orphaned(unknown: UnknownEffect, retried: boolean): Promise<unknown> {
    const next = afterOrphaned(unknown, this.start.settings);
    this.session.failed('effect.unknown', { effect: this.start.name }, new Error(ORPHANED));
    if (next.step === 'ask') throw this.session.needOperator(this.#unresolvedEffect(next.unknownReason, unknown.since));
    if (retried) throw this.session.needOperator(this.#unresolvedEffect('lost', unknown.since));
    const again = () => this.execute('go');
    return next.step === 'again'
      ? again()
      : this.#lookUp(next.lookup, { ...unknown, unknownReason: 'lost', notDone: again });
  }

  async #act(begun: Go): Promise<unknown> {
    const { name, act, settings } = this.start;
    const since = begun.unknown?.since ?? this.session.deps.clock.now();
    await this.#stillMay(begun);
    const withdraw =
      settings.ifUnknown === 'ask' ? this.session.noteOpen(this.#unresolvedEffect('timeout', since)) : null;
    const onLate = (value: unknown) => void this.#late(value);
    const ended = await callEffect(act, { ...this.#callOptions(), traced: this.session.traced(name), onLate });
    withdraw?.();
    switch (ended.kind) {
      case 'returned':
        this.session.emit('effect.acted', name);
        return this.#record(ended.value);
      case 'failed':
        return this.#failed(ended.error, begun);
      case 'silent':
        return this.#indeterminate(ended.error, since);
    }
  }

  /** The ledger may have replied late. An effect that was not called is recorded as failed, so that it needs no operator. */
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
    if (reply === 'late') this.session.emit('effect.late', name);
    if (reply === 'late' || reply === 'stale') throw this.session.stale(name);
    // A late result of another attempt is already recorded: it is what every attempt gets.
    if (reply === 'known') return this.execute();
    this.session.emit('effect.finished', name);
    return value;
  }

  async #failed(error: unknown, begun: Go): Promise<unknown> {
    const { name } = this.start;
    this.session.failed('effect.failed', { effect: name }, error);
    // The failure of this call says nothing about the earlier one.
    if (begun.unknown !== null) throw error;
    const reply = await this.#tryFinish({ kind: 'failed', error: describeError(error) });
    if (reply === 'stale') throw this.session.stale(name);
    if (reply === 'known') return this.execute();
    throw error;
  }

  /** This attempt began it, and its outcome is unknown. */
  async #indeterminate(error: unknown, since: number): Promise<unknown> {
    const { end, clock } = this.session.deps;
    this.session.failed('effect.unknown', { effect: this.start.name }, error);
    const next = afterIndeterminate(this.start.settings);
    if (next.step === 'ask') throw this.session.needOperator(this.#unresolvedEffect(next.unknownReason, since), error);
    // Left to the next attempt: this one is over, or its call may still succeed.
    if (next.step === 'again' || end.over) throw error;
    const ageMs = Math.max(0, clock.now() - since);
    const notDone = () => Promise.reject(error);
    return this.#lookUp(next.lookup, { since, ageMs, unknownReason: 'timeout', notDone });
  }

  async #lookUp(lookup: Lookup<unknown>, indeterminate: Indeterminate): Promise<unknown> {
    const { name } = this.start;
    const { since, ageMs, unknownReason } = indeterminate;
    const answer = await lookUp(lookup, { ...this.#callOptions(), since, ageMs });
    if (answer === 'unknown') throw this.session.needOperator(this.#unresolvedEffect(unknownReason, since));
    if (answer !== 'not-done') return this.#record(answer.done);
    const reply = await this.#finish({ kind: 'failed', error: 'its lookup found that it did not happen' });
    if (reply === 'known') return this.execute();
    if (reply !== 'recorded') throw this.session.stale(name);
    return indeterminate.notDone();
  }

  /** A result that arrives after the timeout is recorded, even if the attempt is over. */
  async #late(value: unknown): Promise<void> {
    const { name, settings } = this.start;
    try {
      const json = encodeResult(name, value);
      await decodeResult(name, json, { schema: settings.schema, became: 'recorded' });
      const reply = await this.#finish({ kind: 'done', result: json });
      if (reply === 'stale') throw new Error('the ledger refused it');
      if (reply !== 'known') this.session.emit('effect.late', name);
    } catch (error) {
      this.session.failed('effect.unrecorded', { effect: name }, error);
    }
  }

  #finish(outcome: EffectOutcome) {
    const { ledger, attempt, lease } = this.session.deps;
    const { name } = this.start;
    return lease.retryWhileLeased('effect.finish', () => ledger.finishEffect(attempt, name, outcome));
  }

  /** Ignores a failure to record: the error of the effect is more useful. */
  #tryFinish(outcome: EffectOutcome) {
    return this.#finish(outcome).catch(() => null);
  }

  #unresolvedEffect(unknownReason: UnknownReason, since: number): UnresolvedEffect {
    return { effect: this.start.name, item: null, unknownReason, since };
  }

  #callOptions() {
    const { name, settings } = this.start;
    const { attempt, clock, end } = this.session.deps;
    const idempotencyKey = `${attempt.runId}/${name}`;
    return { name, idempotencyKey, fence: attempt.fence, clock, end, timeoutMs: settings.timeoutMs };
  }
}

/** Executes one effect of an attempt. */
export async function runEffect<T, R>(
  session: EffectSession,
  { name, act }: { readonly name: string; readonly act: Act<T> },
  options: EffectOptions<T, R> | undefined,
): Promise<R> {
  session.reserve(name);
  const settings = readEffectOptions(name, options, session.deps.criticality);
  return (await new EffectCall(session, { name, act, settings }).execute()) as R;
}
