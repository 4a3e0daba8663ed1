import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { SetupError, StoreAwayError, systemClock, type LeaseStore } from '@fencepost/lease';
import type { RedisClient } from '@fencepost/lease/redis';
import { MemoryLeaseStore } from '@fencepost/lease/testing';
import type { DeclareReply } from '@fencepost/ledger/catalog';
import { refusalOf } from '../../../../test/support/refusals.js';
import { recordedEvents, type RecordedEvents } from '../../../../test/support/recorded.js';
import { CronDeclarationError, EffectOptionError } from '../errors.js';
import { EffectOptionParser } from '../running/effect-options.js';
import { LeaseFeed, Telemetry } from '../telemetry/telemetry.js';
import { appName } from './build.js';
import { checkCron } from './cron-declaration.js';
import { jobsSettings } from './options.js';
import { retryOnBoot } from './retry-on-boot.js';
import { openCronLeases } from './stores.js';
import { DeclarationReport } from './declarer.js';

describe('app name', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'app-name-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  function write(path: string, text: string): void {
    const whole = join(folder, path);
    mkdirSync(dirname(whole), { recursive: true });
    writeFileSync(whole, text);
  }

  describe('the name of an app', () => {
    it('stands in the package.json that is nearest to its program', () => {
      write('package.json', '{ "name": "everything" }');
      write('apps/mail/package.json', '{ "name": "@shop/mail" }');
      expect(appName(join(folder, 'apps/mail/dist/main.js'))).toBe('@shop/mail');
      expect(appName(join(folder, 'apps/mail/bundle/main.js'))).toBe('@shop/mail');
      expect(appName(join(folder, 'main.js'))).toBe('everything');
      expect(appName(join(folder, 'src/main.ts'))).toBe(appName(join(folder, 'dist/index.mjs')));
    });

    it('is not the same for two programs of one package, or one would remove what the other declares', () => {
      write('package.json', '{ "name": "everything" }');
      expect(appName(join(folder, 'dist/apps/mail/main.js'))).toBe('everything/apps/mail/main');
      expect(appName(join(folder, 'dist/apps/other/main.js'))).toBe('everything/apps/other/main');
      expect(appName(join(folder, 'dist/worker.js'))).toBe('everything/worker');
    });

    it('is the same word for every program that stands in no package', () => {
      expect(appName('/main.js')).toBe('default');
      expect(appName('')).toBeTypeOf('string');
      // `node -e` and a REPL are no file at all.
      expect(appName(undefined)).toBeTypeOf('string');
    });
  });
});

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

describe('declaration report', () => {
  let events: RecordedEvents;
  let news: DeclarationReport;
  beforeEach(() => {
    const telemetry = new Telemetry();
    events = recordedEvents(telemetry);
    news = new DeclarationReport(telemetry, { seq: 7, source: 'mail' });
  });

  const reply = (over: Partial<DeclareReply>): DeclareReply => ({ changed: [], older: [], removed: [], ...over });

  describe('what came of declaring', () => {
    it('is told once, and again when something changed by it', () => {
      for (let again = 0; again < 3; again += 1) news.report(reply({}), 2);
      expect(events.of('catalog.declared')).toEqual([{ declared: 2, changed: 0, older: 0 }]);
      news.report(reply({ changed: ['a'] }), 2);
      expect(events.of('catalog.declared')).toHaveLength(2);
      expect(events.of('catalog.redeclared')).toEqual([{ crons: ['a'], buildSeq: 7, app: 'mail' }]);
      expect(events.names).toHaveLength(3);
    });

    it('names the crons that a newer build has defined, again only when they are others', () => {
      for (let again = 0; again < 3; again += 1) news.report(reply({ older: ['b', 'a'] }), 3);
      news.report(reply({ older: ['a', 'b'] }), 3);
      expect(events.of('catalog.outdated-build')).toEqual([{ crons: ['b', 'a'], buildSeq: 7, app: 'mail' }]);
      news.report(reply({ older: ['a', 'b', 'c'] }), 3);
      expect(events.of('catalog.outdated-build')).toHaveLength(2);
    });

    it('names the crons that this build no longer has', () => {
      news.report(reply({ removed: ['old'] }), 1);
      news.report(reply({ removed: ['old'] }), 1);
      news.report(reply({}), 1);
      expect(events.of('catalog.removed')).toEqual([{ crons: ['old'], buildSeq: 7, app: 'mail' }]);
      // Brought back and removed again meanwhile.
      news.report(reply({ removed: ['old'] }), 1);
      expect(events.of('catalog.removed')).toHaveLength(2);
    });
  });
});

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
