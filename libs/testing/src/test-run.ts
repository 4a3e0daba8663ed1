import type { RunHistory } from '@fencepost/ledger';
import type { EffectRecord, Run, RunState } from '@fencepost/ledger/run';
import type { LogLine } from './test-workers.js';
import { AssertionError } from 'node:assert';

/** An effect as a test wants to see it. */
export interface TestEffect extends Pick<EffectRecord, 'name' | 'state' | 'error'> {
  /** As a later attempt would get it; `null` while it is not done. */
  readonly result: unknown;
}

/** A run as the ledger has it, with its effects and what its handler wrote to its log: plain data, for any matcher. */
export interface TestRun extends Omit<Run, 'payload' | 'result'> {
  readonly payload: unknown;
  /** What its handler returned; `null` for nothing. */
  readonly result: unknown;
  /** In the order they were begun. */
  readonly effects: readonly TestEffect[];
  readonly log: readonly LogLine[];
  /** The one of that name, if it was begun. */
  effect(name: string): TestEffect | undefined;
}

/** @throws {RangeError} for a run that isn't there */
export async function readTestRun(
  ledger: Pick<RunHistory, 'readRun' | 'effects'>,
  runId: string,
  log: readonly LogLine[],
): Promise<TestRun> {
  const run = await ledger.readRun(runId);
  if (run === null) throw new RangeError(`Expected the id of a run that the ledger knows, got "${runId}".`);
  const effects = (await ledger.effects(runId)).map(({ name, state, error, result }) => ({
    ...{ name, state, error },
    result: parsed(result),
  }));
  const effect = (name: string) => effects.find((one) => one.name === name);
  // Not enumerable, so that a run compares as data.
  const shown = { ...run, payload: parsed(run.payload), result: parsed(run.result), effects, log: [...log] };
  return Object.defineProperty(shown, 'effect', { value: effect }) as unknown as TestRun;
}

function parsed(json: string | null): unknown {
  return json === null ? null : JSON.parse(json);
}

export interface RunExpectation {
  succeeded(): void;
  /** @param how a part of its error, or what that matches; any by default */
  failed(how?: string | RegExp): void;
  /** It waits for a person to say what became of this effect; of any by default. */
  asks(effect?: string): void;
}

/** What a test claims of a run, without a test framework: says what the run says of itself where it isn't so. */
export function expectRun(run: TestRun): RunExpectation {
  return {
    succeeded: () => expectState(run, 'succeeded'),
    failed: (how = '') => {
      expectState(run, 'failed');
      const error = run.error ?? '';
      if (typeof how === 'string' ? error.includes(how) : how.test(error)) return;
      throw unexpected(run, { expected: `to fail with ${String(how)}`, actual: error });
    },
    asks: (effect) => {
      expectState(run, 'uncertain');
      const asked = run.unresolvedEffect?.effect;
      if (effect === undefined || effect === asked) return;
      throw unexpected(run, { expected: `to ask about "${effect}"`, actual: `a question about "${asked}"` });
    },
  };
}

function expectState(run: TestRun, state: RunState): void {
  if (run.state !== state) throw unexpected(run, { expected: `to be ${state}`, actual: run.state });
}

function unexpected(run: TestRun, { expected, actual }: { readonly expected: string; readonly actual: string }): Error {
  const effects = run.effects.map(({ name, state }) => `${name} ${state}`).join(', ') || 'none';
  const said = run.log.map(({ level, message }) => `\n  ${level} ${message}`).join('');
  const why = run.error === null ? '' : ` Its error: ${run.error}.`;
  const message = `Expected run ${run.id} ${expected}, got ${actual}.${why} Effects: ${effects}.${said && ` Log:${said}`}`;
  return new AssertionError({ message, expected, actual, operator: 'expectRun' });
}
