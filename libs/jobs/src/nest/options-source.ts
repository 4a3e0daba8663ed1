import type { FactoryProvider, InjectionToken, ModuleMetadata, Provider, Type } from '@nestjs/common';
import { SetupError } from '@fencepost/lease';
import type { JobsModuleOptions } from './options.js';

/** Creates the options of `JobsModule`; for `useClass` and `useExisting` of `forRootAsync`. */
export interface JobsOptionsFactory {
  createJobsOptions(): JobsModuleOptions | Promise<JobsModuleOptions>;
}

type MakeOptions = (...args: never[]) => JobsModuleOptions | Promise<JobsModuleOptions>;

/** Where the options come from: one of `useFactory`, `useClass` and `useExisting`, as in the `forRootAsync` of other modules. */
export interface JobsOptionsSource extends Pick<ModuleMetadata, 'imports'> {
  /** Providers that `useFactory` receives as arguments. */
  readonly inject?: FactoryProvider['inject'];
  readonly useFactory?: MakeOptions;
  /** A class that Nest instantiates, with what `imports` exports. */
  readonly useClass?: Type<JobsOptionsFactory>;
  /** A provider that one of `imports` exports. */
  readonly useExisting?: InjectionToken<JobsOptionsFactory>;
}

interface OptionsProvider {
  readonly inject: NonNullable<FactoryProvider['inject']>;
  readonly useFactory: MakeOptions;
  /** What `inject` needs beside the imports. */
  readonly providers: readonly Provider[];
}

const WAYS = ['useFactory', 'useClass', 'useExisting'] as const;

/** @throws {SetupError} unless exactly one of the three is given */
export function optionsProvider(source: JobsOptionsSource): OptionsProvider {
  const given = WAYS.filter((way) => source[way] !== undefined);
  if (given.length !== 1) throw unclear(given);
  const { inject = [], useFactory, useClass, useExisting } = source;
  if (useFactory) return { inject, useFactory, providers: [] };
  const token = useClass ?? useExisting ?? '';
  const providers = useClass ? [useClass] : [];
  return { inject: [token], useFactory: (factory: unknown) => madeBy(factory, token), providers };
}

function madeBy(factory: unknown, token: InjectionToken): ReturnType<MakeOptions> {
  if (isFactory(factory)) return factory.createJobsOptions();
  const name = typeof token === 'function' ? token.name : String(token);
  throw new SetupError(`JobsModule.forRootAsync: expected a provider with the method createJobsOptions, got ${name}.`);
}

function isFactory(value: unknown): value is JobsOptionsFactory {
  return typeof value === 'object' && value !== null && typeof Reflect.get(value, 'createJobsOptions') === 'function';
}

function unclear(given: readonly string[]): SetupError {
  const got = given.length === 0 ? 'none of them' : given.join(' and ');
  return new SetupError(`JobsModule.forRootAsync: expected one of ${WAYS.join(', ')}, got ${got}.`);
}
