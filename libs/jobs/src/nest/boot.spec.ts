import { describe, expect, it, vi } from 'vitest';
import { SetupError, StoreAwayError, systemClock, type LeaseStore } from '@fencepost/lease';
import type { RedisClient } from '@fencepost/lease/redis';
import { MemoryLeaseStore } from '@fencepost/lease/testing';
import { refusalOf } from '../../../../test/support/refusals.js';
import { CronDeclarationError, EffectOptionError } from '../errors.js';
import { EffectOptionParser } from '../running/effect-options.js';
import { LeaseFeed, Telemetry } from '../telemetry/telemetry.js';
import { checkCron } from './cron-declaration.js';
import { jobsSettings } from './options.js';
import { retryOnBoot } from './retry-on-boot.js';
import { openCronLeases } from './stores.js';

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

describe('insisting on an answer', () => {
  it('asks again after an answer that did not come, five times at most', async () => {
    const lateTwice = vi.fn<() => Promise<string>>().mockResolvedValue('an answer');
    lateTwice
      .mockRejectedValueOnce(new Error('Command timed out'))
      .mockRejectedValueOnce(new Error('Command timed out'));
    expect(await retryOnBoot(lateTwice)).toBe('an answer');
    expect(lateTwice).toHaveBeenCalledTimes(3);

    const never = vi.fn<() => Promise<string>>().mockRejectedValue(new Error('Command timed out'));
    await expect(retryOnBoot(never)).rejects.toThrowError('Command timed out');
    expect(never).toHaveBeenCalledTimes(5);
  });

  it('takes a refusal for an answer', async () => {
    const refused = vi.fn<() => Promise<string>>().mockRejectedValue(new SetupError('No.'));
    await expect(retryOnBoot(refused)).rejects.toThrowError('No.');
    expect(refused).toHaveBeenCalledTimes(1);
  });

  it('asks again where a store says that it did not answer', async () => {
    const away = vi.fn<() => Promise<string>>().mockResolvedValue('an answer');
    away.mockRejectedValueOnce(new AwayError('etcd did not answer in time.'));
    expect(await retryOnBoot(away)).toBe('an answer');
  });
});

class AwayError extends StoreAwayError {
  readonly code = 'AWAY';
}

describe('where leases of crons are kept', () => {
  it('is not opened by a worker, which says so to whoever asks it for a lease', async () => {
    const settings = jobsSettings({ redis: 'redis://127.0.0.1:1', leases: 'etcd:http://127.0.0.1:1' });
    const heard = [['worker'], systemClock, new LeaseFeed(), new Telemetry()] as const;
    const { store, close } = await openCronLeases({} as RedisClient, null, settings, ...heard);
    await expect(store.inspect(['nightly'])).rejects.toMatchObject({ code: 'LEASES_ELSEWHERE' });
    await close();
  });

  it('is asked again at the start where its first answer comes too late', async () => {
    let asked = 0;
    const slow = () => {
      const store: LeaseStore = new MemoryLeaseStore({ clock: systemClock });
      const probe = async () => {
        asked += 1;
        if (asked === 1) throw new AwayError('The store did not answer in time.');
        return [];
      };
      return { store: Object.assign(store, { probe }), close: async () => {} };
    };
    const settings = jobsSettings({ redis: 'redis://127.0.0.1:1', leases: slow });
    const heard = [['scheduler'], systemClock, new LeaseFeed(), new Telemetry()] as const;
    await openCronLeases({} as RedisClient, null, settings, ...heard);
    expect(asked).toBe(2);
  });
});
