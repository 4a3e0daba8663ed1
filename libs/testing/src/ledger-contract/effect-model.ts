import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { AttemptRef, EffectRequest } from '@fencepost/ledger';
import type { Answer } from '@fencepost/ledger/run';
import { once, type KnownRun } from './known-runs.js';
import type { Stage } from './stage.js';

export type Verdict = Answer['verdict'];

/** A call by some attempt of a run, made twice as after a lost reply or once. */
interface Call {
  readonly attempt: AttemptRef;
  readonly known: KnownRun;
  readonly twice: boolean;
}

/** What becomes of the effects of a run, whoever begins and ends them. */
export class EffectModel {
  constructor(private readonly stage: Stage) {}

  /** I7: who asks for it is never let begin what another attempt began, unless that has failed or somebody said so. */
  async begin({ attempt, known, twice }: Call, request: EffectRequest): Promise<void> {
    const { name } = request;
    const reply = await once(async () => ageless(await this.stage.ledger.beginEffect(attempt, request)), twice);
    if (known.current !== attempt || known.lapsed) return expect(reply).toEqual({ verdict: 'stale' });
    const result = known.done.get(name);
    if (result !== undefined) return expect(reply).toMatchObject({ verdict: 'done', result });
    const first = known.first.get(name) ?? attempt.fence;
    const asks = request.ifUnknown === 'tell' && first !== attempt.fence;
    expect(reply).toMatchObject({ verdict: asks ? 'unknown' : 'go' });
    expect('unknown' in reply && reply.unknown !== null).toBe(first !== attempt.fence);
    if (asks) return;
    known.first.set(name, first);
    known.begun.set(name, (known.begun.get(name) ?? new Set()).add(attempt.fence));
  }

  /** I8. */
  async finish({ attempt, known, twice }: Call, effect: string): Promise<void> {
    const result = JSON.stringify(randomUUID());
    const reply = await once(() => this.stage.finishEffect(attempt, effect, result), twice);
    const may = known.current === attempt || known.begun.get(effect)?.has(attempt.fence);
    if (known.done.has(effect)) expect(reply).not.toBe(may ? 'stale' : 'recorded');
    else expect(reply).toBe(known.current === attempt ? 'recorded' : may ? 'late' : 'stale');
    if (may && !known.done.has(effect)) known.done.set(effect, result);
  }

  /** I8. */
  async fail({ attempt, known, twice }: Call, effect: string): Promise<void> {
    const reply = await once(() => this.stage.failEffect(attempt, effect), twice);
    if (known.done.has(effect)) return expect(reply).not.toBe('recorded');
    expect(reply).toBe(known.current === attempt ? 'recorded' : 'stale');
    if (known.current === attempt) known.first.delete(effect);
  }

  /** I8 as well: what arrived as done meanwhile stands. */
  async resolve(known: KnownRun, verdict: Verdict, twice: boolean): Promise<void> {
    const { id, state, unresolvedEffect } = known.last;
    const request = await this.stage.answer(id, verdict);
    const reply = await once(() => this.stage.ledger.resolve(id, request), twice);
    if (state !== 'uncertain') return expect(reply).toEqual({ verdict: 'certain', state });
    expect(reply).toMatchObject({ verdict: 'resolved', state: verdict === 'give-up' ? 'failed' : 'enqueued' });
    const effect = unresolvedEffect?.effect ?? '';
    if (verdict === 'give-up') return;
    known.extraAttempts += 1;
    if (verdict === 'not-done') known.first.delete(effect);
    else if (!known.done.has(effect)) known.done.set(effect, '"by hand"');
  }
}

/** How long ago it was differs between two calls. */
function ageless<T extends object>(reply: T): T {
  const unknown = 'unknown' in reply ? (reply.unknown as object | null) : null;
  return unknown === null ? reply : { ...reply, unknown: { ...unknown, ageMs: 0 } };
}
