import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FencepostError } from '@fencepost/lease';
import { ManualClock } from '@fencepost/lease/testing';
import { decoratedOn } from '@fencepost/jobs/internal';
import { foundCrons } from '../found-crons.js';

/** A module's exports are none that jobs can be made of. */
class JobsInError extends FencepostError {
  readonly code = 'TORTURE_APP';
}

/** The jobs that a module of a program exports, in whatever way. */
export interface ExportedJobs {
  /** Of crons and job handlers, sorted. */
  readonly names: readonly string[];
  /** Makes them anew: instances, or a Nest application. Those that are exported as instances stay the same ones. */
  open(): Promise<readonly object[]>;
  /** Lets go of what was made. */
  close(): Promise<void>;
}

type Class = new () => object;
type Open = () => Promise<{ readonly sources: readonly object[]; readonly close: () => Promise<void> }>;

const NOTHING = async () => undefined;

/**
 * What a module exports is looked through: a Nest module (its default export, or those named …Module), else classes with
 * `@SingletonCron` or `@JobHandler` methods, and instances of them.
 * @throws {JobsInError} for a Nest module that includes `JobsModule`, a class that needs arguments, and for no job at all
 * @throws {CronDeclarationError} as at the start of a worker
 */
export async function jobsIn(exports: object): Promise<ExportedJobs> {
  const open = await openerOf(exports);
  const first = await open();
  const names = [...foundCrons(first.sources, new ManualClock()).keys()].toSorted((a, b) => (a < b ? -1 : 1));
  await first.close();
  if (names.length === 0) {
    throw new JobsInError(
      'Expected a module whose exports have a job, with @SingletonCron or @JobHandler, got none there.',
    );
  }
  let close = NOTHING;
  return {
    names,
    open: async () => {
      const opened = await open();
      close = opened.close as typeof NOTHING;
      return opened.sources;
    },
    close: () => close(),
  };
}

async function openerOf(exports: object): Promise<Open> {
  const modules = modulesIn(exports);
  const usable: NestModule[] = [];
  for (const module of modules) if (!(await declaresJobs(module))) usable.push(module);
  if (usable.length > 0) return () => openNest(usable);
  if (modules.length > 0) {
    throw new JobsInError(
      'Expected a Nest module without JobsModule, which would declare its crons to a real store: give the module that ' +
        'provides the jobs.',
    );
  }
  const [classes, instances] = [
    Object.values(exports).filter(isJobClass),
    Object.values(exports).filter(isJobInstance),
  ];
  const needy = classes.find(({ length }) => length > 0);
  if (needy) {
    throw new JobsInError(
      `Expected a class that is made without arguments, got ${needy.name}: export an instance of it, or a Nest module that ` +
        'provides it.',
    );
  }
  return async () => ({ sources: [...classes.map((one) => new one()), ...instances], close: NOTHING });
}

function modulesIn(exports: object): NestModule[] {
  const standard: unknown = Reflect.get(exports, 'default');
  if (isNestModule(standard)) return [standard];
  const named = Object.entries(exports).filter(([name]) => name.endsWith('Module'));
  return [...new Set(named.map(([, value]) => value as unknown))].filter(isNestModule);
}

@Module({})
class TortureRoot {}

async function openNest(imports: readonly NestModule[]) {
  const root = { module: TortureRoot, imports: [...imports] };
  const app = await NestFactory.createApplicationContext(root as never, { logger: false, abortOnError: false });
  return { sources: [app], close: () => app.close() };
}

function isJobClass(value: unknown): value is Class {
  return typeof value === 'function' && hasJobs(value.prototype as unknown);
}

function isJobInstance(value: unknown): value is object {
  return typeof value === 'object' && value !== null && hasJobs(Object.getPrototypeOf(value));
}

function hasJobs(prototype: unknown): boolean {
  return typeof prototype === 'object' && prototype !== null && decoratedOn(prototype).length > 0;
}

/** A class with `@Module`, or what a `forRoot` returns. */
type NestModule = object;

const METADATA = ['imports', 'providers', 'controllers', 'exports'] as const;

/** What each `JobsModule` brings along, and nobody else: a module of the user's may have the name `JobsModule` too. */
const OURS = 'JobsCoreModule';

function isNestModule(value: unknown): value is NestModule {
  if (typeof value === 'function') return METADATA.some((key) => Reflect.hasMetadata(key, value));
  return typeof value === 'object' && value !== null && typeof Reflect.get(value, 'module') === 'function';
}

/** Whether an application of it would be a scheduler or a worker of a real deployment. */
export async function declaresJobs(module: unknown, seen = new Set<unknown>()): Promise<boolean> {
  const own = forwarded(await module);
  if (!isNestModule(own) || seen.has(own)) return false;
  seen.add(own);
  const type: unknown = typeof own === 'function' ? own : Reflect.get(own, 'module');
  if (typeof type === 'function' && type.name === OURS) return true;
  for (const imported of [...importsOf(own), ...(type === own ? [] : [type])]) {
    if (await declaresJobs(imported, seen)) return true;
  }
  return false;
}

function importsOf(module: NestModule): unknown[] {
  const imports: unknown =
    typeof module === 'function' ? Reflect.getMetadata('imports', module) : Reflect.get(module, 'imports');
  return Array.isArray(imports) ? imports : [];
}

/** `forwardRef(() => Module)`. */
function forwarded(module: unknown): unknown {
  if (typeof module !== 'object' || module === null) return module;
  const refer: unknown = Reflect.get(module, 'forwardRef');
  return typeof refer === 'function' ? (refer as () => unknown)() : module;
}
