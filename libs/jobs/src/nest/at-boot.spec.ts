import { Inject, Injectable, type Type } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import { CLOCK } from '@fencepost/lease/nest';
import { ManualClock } from '@fencepost/lease/testing';
import { describe, expect, it, vi } from 'vitest';
import { CronDeclarationError } from './cron-declaration.js';
import { CronExplorer } from './cron-explorer.js';
import { SingletonCron } from './singleton-cron.decorator.js';
import { JOBS_SETTINGS } from './tokens.js';

/** As `ConfigService` of `@nestjs/config` answers. */
@Injectable()
class Config {
  static values: Readonly<Record<string, unknown>> = {};

  text(key: string): string {
    return Config.values[key] as string;
  }

  flag(key: string): boolean {
    return Config.values[key] as boolean;
  }

  textOrThrow(key: string): string {
    if (key in Config.values) return this.text(key);
    throw new TypeError(`Configuration key "${key}" does not exist`);
  }
}

async function explore(host: Type, values: Readonly<Record<string, unknown>>) {
  Config.values = values;
  const app = await Test.createTestingModule({
    imports: [DiscoveryModule],
    providers: [
      ...[CronExplorer, Config, host],
      { provide: CLOCK, useValue: new ManualClock() },
      { provide: JOBS_SETTINGS, useValue: { minIntervalMs: 0 } },
    ],
  }).compile();
  return [...app.get(CronExplorer).explore().values()].map(({ declaration }) => declaration);
}

@Injectable()
class Reports {
  constructor(@Inject(Config) private readonly config: Config) {}

  @SingletonCron((self: Reports) => self.config.text('CRON'), {
    name: 'nightly',
    timeZone: (self: Reports) => self.config.text('ZONE'),
    disabled: (self: Reports) => self.config.flag('OFF'),
  })
  nightly(): void {}
}

@Injectable()
class Polls {
  constructor(@Inject(Config) private readonly config: Config) {}

  @SingletonCron({ name: 'poll', every: (self: Polls) => self.config.textOrThrow('EVERY') })
  poll(): void {}
}

const SET = { CRON: '0 3 * * *', ZONE: 'Europe/Berlin', OFF: false };

describe('a schedule from a provider', () => {
  it('is what the functions return, with the provider as their argument', async () => {
    expect(await explore(Reports, { ...SET, OFF: true })).toMatchObject([
      { definition: { name: 'nightly', expression: '0 3 * * *', timeZone: 'Europe/Berlin' }, disabled: true },
    ]);
    expect(await explore(Polls, { EVERY: '30s' })).toMatchObject([{ definition: { expression: '@every 30s' } }]);
  });

  it('asks each function once', async () => {
    const schedule = vi.fn<(self: object) => string>().mockReturnValue('0 4 * * *');
    @Injectable()
    class Counted {
      @SingletonCron(schedule, { name: 'counted' })
      count(): void {}
    }
    await explore(Counted, {});
    expect(schedule).toHaveBeenCalledOnce();
    expect(schedule).toHaveBeenCalledWith(expect.any(Counted));
  });

  it.each<[Type, object, string]>([
    [
      Reports,
      { CRON: undefined },
      'Reports.nightly: the expression of @SingletonCron: expected a cron expression from its function, got nothing.',
    ],
    [
      Reports,
      { CRON: null },
      'Reports.nightly: the expression of @SingletonCron: expected a cron expression from its function, got nothing.',
    ],
    [
      Reports,
      { ZONE: undefined },
      'Reports.nightly: option "timeZone" of @SingletonCron: expected an IANA time zone such as "Europe/Berlin" or "UTC" from its function, got nothing.',
    ],
    [
      Reports,
      { OFF: undefined },
      'Reports.nightly: option "disabled" of @SingletonCron: expected true or false from its function, got nothing.',
    ],
    [
      Polls,
      { EVERY: undefined },
      `Polls.poll: option "every" of @SingletonCron: expected an interval such as '30s' from its function, got nothing.`,
    ],
    [
      Reports,
      { CRON: 5 },
      `Reports.nightly: the expression of @SingletonCron: expected a cron expression, or the option "every" such as '30s', got 5.`,
    ],
    [Reports, { CRON: '61 * * * *' }, 'Reports.nightly: the expression of @SingletonCron: expected'],
    [Reports, { ZONE: 'Europe/Berln' }, 'Reports.nightly: option "timeZone" of @SingletonCron: expected'],
    [Reports, { OFF: 'true' }, 'option "disabled" of @SingletonCron: expected true or false, got "true".'],
    [
      Reports,
      { CRON: Promise.resolve('* * * * *') },
      `expected a cron expression, or the option "every" such as '30s', got Promise`,
    ],
  ])('is refused at boot: %o with %o', async (host, values, sentence) => {
    const refused = explore(host, { ...SET, ...values });
    await expect(refused).rejects.toThrow(CronDeclarationError);
    await expect(refused).rejects.toThrow(sentence);
  });

  it('is refused with the cause where a function throws', async () => {
    await expect(explore(Polls, {})).rejects.toMatchObject({
      message: `Polls.poll: option "every" of @SingletonCron: expected an interval such as '30s', and its function threw TypeError: Configuration key "EVERY" does not exist.`,
      cause: expect.any(TypeError),
    });
  });
});
