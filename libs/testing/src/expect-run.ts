import { AssertionError } from 'node:assert';
import type { RunState } from '@fencepost/ledger/run';
import type { TestRun } from './test-run.js';

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
