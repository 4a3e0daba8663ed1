import { StaleFenceError } from '@fencepost/lease';
import type { AttemptRef, Ledger } from '../ledger/ledger.js';
import type { Telemetry } from '../telemetry/telemetry.js';
import type { Ending } from './ending.js';
import { EffectNameError, EffectResultError } from './errors.js';
import type { EffectContext } from './run-context.js';

export interface EffectsDeps {
  readonly ledger: Ledger;
  readonly telemetry: Telemetry;
  readonly attempt: AttemptRef;
  readonly end: Ending;
  /** What telemetry says of the attempt. */
  readonly about: { readonly cron: string; readonly runId: string; readonly attempt: number };
  /** Called when the ledger says that this attempt is not the current one. */
  readonly onStale: (error: StaleFenceError) => void;
  /** Throws when the attempt can't be trusted any more. */
  readonly check: () => void;
  /** Asks the ledger again as long as the attempt can be trusted: an outage must not make an effect happen twice. */
  readonly insist: <T>(doing: string, ask: () => Promise<T>) => Promise<T>;
}

type Act<T> = (context: EffectContext) => Promise<T> | T;

type EffectEvent = 'effect.beginning' | 'effect.known' | 'effect.acted' | 'effect.finished' | 'effect.late';

const LONGEST_NAME = 200;
const LARGEST_RESULT = 64 * 1024;

/** The effects of one attempt: each is begun in the ledger, carried out, and recorded, in this order. */
export class Effects {
  readonly #used = new Set<string>();

  constructor(private readonly deps: EffectsDeps) {}

  async run<T>(name: string, act: Act<T>): Promise<T> {
    this.#reserve(name);
    return this.#begin(name, act);
  }

  async #begin<T>(name: string, act: Act<T>): Promise<T> {
    this.deps.check();
    this.#tell('effect.beginning', name);
    const begun = await this.deps.ledger.beginEffect(this.deps.attempt, name);
    switch (begun.verdict) {
      case 'stale':
        throw this.#stale(name);
      case 'done':
        this.#tell('effect.known', name);
        return JSON.parse(begun.result) as T;
      case 'go':
        this.deps.telemetry.emit('effect.begun', { ...this.#about(name), unknown: begun.unknown });
        return this.#act(name, act);
    }
  }

  async #act<T>(name: string, act: Act<T>): Promise<T> {
    const { ledger, attempt, end, insist } = this.deps;
    const idempotencyKey = `${attempt.runId}/${name}`;
    const result = await act({ fence: attempt.fence, idempotencyKey, signal: end.signal });
    this.#tell('effect.acted', name);
    const json = encode(name, result);
    const reply = await insist(`recording the effect ${name}`, () => ledger.finishEffect(attempt, name, json));
    if (reply === 'late') this.#tell('effect.late', name);
    if (reply === 'late' || reply === 'stale') throw this.#stale(name);
    // Another attempt's late done stands already, and what it brought is what every attempt gets.
    if (reply === 'known') return this.#begin(name, act);
    this.#tell('effect.finished', name);
    // What a later attempt would get, so that a handler can't come to depend on more.
    return JSON.parse(json) as T;
  }

  #reserve(name: string): void {
    const { runId } = this.deps.attempt;
    if (typeof name !== 'string' || name === '' || name.length > LONGEST_NAME) {
      throw new EffectNameError(runId, name, `a text of 1 to ${LONGEST_NAME} characters`);
    }
    if (this.#used.has(name)) throw new EffectNameError(runId, name, 'a name not used before in this attempt');
    this.#used.add(name);
  }

  #stale(name: string): StaleFenceError {
    const { attempt, telemetry, onStale, about } = this.deps;
    telemetry.emit('attempt.refused', { ...about, fence: attempt.fence, step: 'effect' });
    const error = new StaleFenceError(
      attempt.runId,
      attempt.fence,
      `the effect "${name}" belongs to another attempt now`,
    );
    onStale(error);
    return error;
  }

  #about(effect: string) {
    return { ...this.deps.about, fence: this.deps.attempt.fence, effect };
  }

  #tell(event: EffectEvent, name: string): void {
    this.deps.telemetry.emit(event, this.#about(name));
  }
}

/** @throws {EffectResultError} */
function encode(name: string, result: unknown): string {
  let json: string | undefined;
  try {
    json = JSON.stringify(result ?? null);
  } catch (cause) {
    throw new EffectResultError(name, cause);
  }
  if (json === undefined) throw new EffectResultError(name, 'it is no data');
  if (Buffer.byteLength(json) > LARGEST_RESULT) throw new EffectResultError(name, 'it is larger than 64 KiB');
  return json;
}
