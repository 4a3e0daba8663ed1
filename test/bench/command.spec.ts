import { describe, expect, it } from 'vitest';
import { helpOf, readOptions } from '../../bench/command.mjs';

const BENCH = {
  name: 'bench:made-up',
  numbers: {
    rounds: { says: 'rounds that count', default: 11, quick: 1 },
    seed: { says: 'of the order', default: 1, min: 0 },
  },
  files: { module: 'what is measured' },
  cases: ['alone', 'together'],
  quick: 'judges nothing',
};
const NOTHING = { json: false, quick: false, help: false, rounds: 11, seed: 1, cases: ['alone', 'together'] };

describe('the options of a bench', () => {
  it('all have defaults, which --quick changes', () => {
    expect(readOptions(BENCH, [])).toEqual(NOTHING);
    expect(readOptions(BENCH, ['--quick'])).toEqual({ ...NOTHING, quick: true, rounds: 1 });
  });

  it('are read as numbers, cases and files', () => {
    const args = '--json -h --rounds 3 --seed=0 --cases together --module schedule.js'.split(' ');
    const given = { json: true, help: true, rounds: 3, seed: 0, cases: ['together'], module: 'schedule.js' };
    expect(readOptions(BENCH, args)).toEqual({ ...NOTHING, ...given });
  });

  it.each([
    ['--rounds=0', 'Expected --rounds as a whole number from 1, got "0".'],
    ['--rounds=many', 'Expected --rounds as a whole number from 1, got "many".'],
    ['--cases=alone,sideways', 'Expected a case out of alone, together, got "sideways".'],
    ['--viewers=3', "Unknown option '--viewers'"],
  ])('are refused when %s', (arg, sentence) => {
    expect(() => readOptions(BENCH, [arg])).toThrow(sentence);
  });

  it('are all in the help', () => {
    for (const name of Object.keys(NOTHING)) expect(helpOf(BENCH)).toContain(`--${name}`);
    expect(helpOf(BENCH)).toContain('--module <file>');
  });
});
