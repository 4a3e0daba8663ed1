import { describe, expect, it } from 'vitest';
import { readReport } from './report.js';
import { readSteps } from './steps.js';

const THROUGH = `
(Spin Version 6.5.2 -- 6 December 2019)
State-vector 252 byte, depth reached 107, errors: 0
   394191 states, stored
  2.5e+07 states, matched
1.31589e+06 transitions (= stored+matched)
pan: elapsed time 1.26 seconds`;

describe('a report', () => {
  it('has what was counted', () => {
    expect(readReport(THROUGH)).toEqual({
      ...{ states: 394_191, transitions: 1_315_890, depth: 107 },
      ...{ exhaustive: true, errors: 0 },
    });
  });

  it.each([
    'Warning: Search not completed',
    'error: max search depth too small',
    'pan: out of memory',
    'pan: reached -DMEMLIM bound\nWarning: Search not completed',
  ])('is not exhaustive after "%s"', (line) => {
    expect(readReport(`${line}\n${THROUGH}`).exhaustive).toBe(false);
  });

  it('is not exhaustive when the search was ended from outside', () => {
    expect(readReport(THROUGH, 'it took too long').exhaustive).toBe(false);
  });

  it('is no report when it says nothing of errors', () => {
    expect(() => readReport('Killed', 'signal 9')).toThrow('The checker has said nothing of errors: signal 9');
  });
});

describe('steps', () => {
  const replay = [
    'pod 1 claims instant 0 under fence 1',
    '= #39',
    'worker 0 begins run 0',
    'BROKEN #56',
    'pan:1: assertion violated 0 (at depth 37)',
    '\tmtype  reply:\t56',
    '\tmtype  STALE:\t39',
    '\tmtype  I6:\t56',
  ].join('\n');

  it('join an answer to what was asked, and name what broke', () => {
    expect(readSteps(replay)).toEqual({
      steps: ['pod 1 claims instant 0 under fence 1 -> STALE', 'worker 0 begins run 0'],
      claim: 'I6',
    });
  });

  it('name no claim that is none', () => {
    expect(readSteps('pod 1 dies\nBROKEN #7').claim).toBeNull();
  });
});
