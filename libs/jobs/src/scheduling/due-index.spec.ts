import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { atMost } from '../../../../test/support/run-length.js';
import { DueIndex } from './due-index.js';

type Step =
  | { readonly do: 'set'; readonly name: string; readonly at: number }
  | { readonly do: 'remove'; readonly name: string }
  | { readonly do: 'take'; readonly at: number };

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

function bytesKept(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

/** What was taken. */
function apply(index: DueIndex, step: Step): string[] {
  if (step.do === 'set') index.set(step.name, step.at);
  else if (step.do === 'remove') index.remove(step.name);
  else return index.takeDue(step.at);
  return [];
}

function applyToList(list: Map<string, number>, step: Step): string[] {
  if (step.do === 'set') {
    // At the end, as a cron that is set joins its bucket last.
    list.delete(step.name);
    list.set(step.name, step.at);
  } else if (step.do === 'remove') list.delete(step.name);
  else {
    const due = [...list].filter(([, at]) => at <= step.at).toSorted(([, a], [, b]) => a - b);
    for (const [name] of due) list.delete(name);
    return due.map(([name]) => name);
  }
  return [];
}

describe('the due index', () => {
  it('agrees with a plain list, whatever is set, removed and taken', () => {
    const name = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f');
    const at = fc.integer({ min: 0, max: 12 });
    const step = fc.oneof(
      fc.record({ do: fc.constant('set' as const), name, at }),
      fc.record({ do: fc.constant('remove' as const), name }),
      fc.record({ do: fc.constant('take' as const), at }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const index = new DueIndex();
        const model = new Map<string, number>();
        for (const taken of steps) {
          expect(apply(index, taken)).toEqual(applyToList(model, taken));
          expect(index.earliest()).toBe(model.size === 0 ? null : Math.min(...model.values()));
        }
      }),
      atMost(500),
    );
  });

  it('keeps nothing of a cron that was set anew two million times', () => {
    const index = new DueIndex();
    const before = bytesKept();
    for (let n = 0; n < 2_000_000; n += 1) index.set('a', n % 2);
    expect(bytesKept() - before).toBeLessThan(10e6);
    expect(index.takeDue(1)).toEqual(['a']);
  });
});
