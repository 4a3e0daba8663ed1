import { Inject, Injectable, Module } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { SetupError } from '@fencepost/lease';
import { describe, expect, it } from 'vitest';
import { refusalOf } from '../../../../test/support/refusals.js';
import { connectionModules } from './jobs-core.module.js';
import { JobsModule } from './jobs.module.js';
import type { JobsModuleOptions, JobsSettings } from './options.js';
import type { JobsOptionsFactory, JobsOptionsSource } from './options-source.js';
import { JOBS_SETTINGS } from './tokens.js';

@Injectable()
class Config {
  readonly redis = 'redis://localhost:6379';
}

@Module({ providers: [Config], exports: [Config] })
class ConfigModule {}

@Injectable()
class JobsConfig implements JobsOptionsFactory {
  constructor(@Inject(Config) private readonly config: Config) {}

  async createJobsOptions(): Promise<JobsModuleOptions> {
    return { redis: this.config.redis, prefix: 'made-by-a-class' };
  }
}

@Module({ imports: [ConfigModule], providers: [JobsConfig], exports: [JobsConfig] })
class JobsConfigModule {}

/** Without a connection: the settings alone. */
async function settingsFrom(source: JobsOptionsSource): Promise<JobsSettings> {
  const [settings] = connectionModules(source);
  const app = await Test.createTestingModule({ imports: [settings] }).compile();
  return app.get<JobsSettings>(JOBS_SETTINGS, { strict: false });
}

describe('JobsModule.forRootAsync', () => {
  it('takes its options from a function of providers', async () => {
    const source: JobsOptionsSource = {
      imports: [ConfigModule],
      inject: [Config],
      useFactory: ({ redis }: Config) => ({ redis, prefix: 'made-by-a-function' }),
    };
    expect(await settingsFrom(source)).toMatchObject({ prefix: 'made-by-a-function' });
  });

  it('takes its options from a class that it creates with what is imported', async () => {
    expect(await settingsFrom({ imports: [ConfigModule], useClass: JobsConfig })).toMatchObject({
      redis: 'redis://localhost:6379',
      prefix: 'made-by-a-class',
    });
  });

  it('takes its options from a provider of an imported module', async () => {
    expect(await settingsFrom({ imports: [JobsConfigModule], useExisting: JobsConfig })).toMatchObject({
      prefix: 'made-by-a-class',
    });
  });

  it.each<[JobsOptionsSource, string]>([
    [{ imports: [ConfigModule] }, 'none of them'],
    [{ useFactory: () => ({ redis: '' }), useClass: JobsConfig }, 'useFactory and useClass'],
    [{ useClass: JobsConfig, useExisting: JobsConfig }, 'useClass and useExisting'],
  ])('refuses %o, which is not one way to the options', (source, got) => {
    const refusal = refusalOf(SetupError, () => JobsModule.forRootAsync({ roles: ['worker'], ...source }));
    expect(refusal).toBe(`JobsModule.forRootAsync: expected one of useFactory, useClass, useExisting, got ${got}.`);
  });

  it('refuses a provider that makes no options', async () => {
    const source = { imports: [ConfigModule], useExisting: Config as never };
    await expect(settingsFrom(source)).rejects.toThrow(
      'JobsModule.forRootAsync: expected a provider with the method createJobsOptions, got Config.',
    );
  });

  it('checks the options as forRoot does', async () => {
    const source = { useFactory: () => ({ redis: 'redis://localhost:6379', prefix: 'a:b' }) };
    await expect(settingsFrom(source)).rejects.toThrow('JobsModule, option "prefix"');
  });
});
