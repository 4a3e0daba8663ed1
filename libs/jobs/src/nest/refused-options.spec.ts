import { SetupError } from '@fencepost/lease';
import { describe, expect, it } from 'vitest';
import { refusalOf } from '../../../../test/support/refusals.js';
import { CronDeclarationError, EffectOptionError } from '../errors.js';
import { EffectOptionParser } from '../running/effect-options.js';
import { checkCron } from './cron-declaration.js';
import { jobsSettings } from './options.js';

const ofJobs = (options: object) =>
  refusalOf(SetupError, () => jobsSettings({ redis: 'redis://localhost:6379', ...options }));

const ofCron = (options: object) =>
  refusalOf(CronDeclarationError, () =>
    checkCron('Jobs.report', { expression: '0 3 * * *', options: { name: 'report', ...options } }, Date.UTC(2030, 0)),
  );

const ofEffect = (options: object) =>
  refusalOf(EffectOptionError, () =>
    new EffectOptionParser('the effect "x"', { given: options, known: ['timeout'] }).timeout(),
  );

describe('a bare number in an option that is written once, and that may be seconds', () => {
  it.each([
    ['@SingletonCron', ofCron, 'grace', 60],
    ['JobsModule', ofJobs, 'leaseTtl', 500],
  ] as const)('is refused by %s, which says how to write either', (...[, refusal, option, value]) => {
    const said = refusal({ [option]: value });
    expect(said).toContain(option);
    expect(said).toContain(`'${value}s' or '${value}ms'`);
  });
});

describe('an unknown option', () => {
  it.each([
    [ofJobs, { leaseTTL: '10s' }, 'JobsModule has no option "leaseTTL"; did you mean "leaseTtl"?'],
    [ofCron, { graze: '1m' }, '@SingletonCron has no option "graze"; did you mean "grace"?'],
    [ofCron, { dst: { gapp: 'skip' } }, '@SingletonCron has no option "dst.gapp"; did you mean "gap"?'],
  ] as const)('is refused with the one that is meant (%#)', (refusal, options, sentence) => {
    expect(refusal(options)).toContain(sentence);
  });

  it('that is like none is refused with all there are', () => {
    expect(ofEffect({ xyzzy: 1 })).toContain('timeout');
  });
});
