import type { RunHistory } from '@fencepost/ledger';
import type { EffectRecord, Run } from '@fencepost/ledger/run';
import type { LogLine } from './test-workers.js';

/** An effect as a test wants to see it. */
export interface TestEffect extends Pick<EffectRecord, 'name' | 'state' | 'error'> {
  /** As a later attempt would get it; `null` while it is not done. */
  readonly result: unknown;
}

/** A run as the ledger has it, with its effects and what its handler wrote to its log: plain data, for any matcher. */
export interface TestRun extends Omit<Run, 'payload'> {
  readonly payload: unknown;
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
  return Object.defineProperty({ ...run, payload: parsed(run.payload), effects, log: [...log] }, 'effect', {
    value: effect,
  }) as unknown as TestRun;
}

function parsed(json: string | null): unknown {
  return json === null ? null : JSON.parse(json);
}
