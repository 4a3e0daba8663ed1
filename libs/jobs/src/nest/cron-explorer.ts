import { Inject, Injectable } from '@nestjs/common';
import { DiscoveryService, Reflector } from '@nestjs/core';
import type { Clock } from '@fencepost/lease';
import { CLOCK } from '@fencepost/lease/nest';
import type { Declaration } from '@fencepost/ledger/catalog';
import type { CronHandler } from '../running/delivery.js';
import type { RunHandler } from '../running/run-context.js';
import { CronDeclarationError, checkCron, checkJob, type CheckedCron } from './cron-declaration.js';
import { JOB_METADATA, type JobMetadata } from './job-handler.decorator.js';
import type { JobsSettings } from './options.js';
import { CRON_METADATA, decoratedPrototypes, type CronMetadata } from './singleton-cron.decorator.js';
import { JOBS_SETTINGS } from './tokens.js';

type Provider = ReturnType<DiscoveryService['getProviders']>[number];

/** A method with `@SingletonCron` or `@JobHandler`, not checked yet. */
interface Decorated {
  readonly where: string;
  readonly called: '@SingletonCron' | '@JobHandler';
  readonly check: () => CheckedCron;
  readonly handler: RunHandler;
}

/** A cron or a job found in this process, checked, with the method it calls. */
export interface FoundCron extends CronHandler {
  /** Class and method. */
  readonly where: string;
  readonly declaration: Declaration;
}

/** Finds the crons and the jobs of this process. */
@Injectable()
export class CronExplorer {
  @Inject(JOBS_SETTINGS) private readonly settings!: Pick<JobsSettings, 'minIntervalMs'>;

  constructor(
    @Inject(DiscoveryService) private readonly discovery: DiscoveryService,
    @Inject(Reflector) private readonly reflector: Reflector,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /**
   * All of them by name: no cron is called as a job is.
   * @throws {CronDeclarationError} for the first that is invalid, can't be called, or has a name that is taken
   */
  explore(): Map<string, FoundCron> {
    const found = new Map<string, FoundCron>();
    for (const provider of this.#providers()) {
      for (const decorated of this.#inProvider(provider)) {
        const cron = this.#check(provider, decorated);
        const { name } = cron.declaration.definition;
        const other = found.get(name);
        if (other) {
          const problem = `option "name" of ${decorated.called}: expected a name of its own, got ${JSON.stringify(name)}, `;
          throw new CronDeclarationError(cron.where, `${problem}which ${other.where} already has.`);
        }
        found.set(name, cron);
      }
    }
    return found;
  }

  /** Names of the classes whose crons or jobs {@link explore} can't find: they were imported, and no module provides them. */
  unprovided(): string[] {
    const provided = this.#providers().map((provider) => instanceOf(provider) ?? provider.metatype?.prototype);
    const isProvided = (prototype: object) =>
      provided.some(
        (one) => one === prototype || (isObject(one) && Object.prototype.isPrototypeOf.call(prototype, one)),
      );
    const missing = [...decoratedPrototypes()].filter((prototype) => !isProvided(prototype));
    // A static method is decorated at the class itself.
    return missing.map((holder) => (typeof holder === 'function' ? holder.name : holder.constructor.name));
  }

  /** Each instance once, also when it is provided under several tokens. Controllers too: whoever decorates one means it. */
  #providers(): Provider[] {
    const all = [...this.discovery.getProviders(), ...this.discovery.getControllers()];
    const instances = new Map(all.map((provider) => [instanceOf(provider) ?? provider, provider]));
    return [...instances.values()];
  }

  #inProvider(provider: Provider): Decorated[] {
    // A factory or a value has no class of its own here, so what counts is what it made.
    const instance = instanceOf(provider);
    const prototype: unknown = instance ? Object.getPrototypeOf(instance) : provider.metatype?.prototype;
    const type = isObject(prototype) ? Reflect.get(prototype, 'constructor') : null;
    if (!isObject(prototype) || typeof type !== 'function') return [];
    const statics = this.#decorated(type, type.name)[0];
    if (statics) throw notCallable(statics, 'an instance method', 'a static method');
    return this.#decorated(prototype, type.name);
  }

  #check(provider: Provider, decorated: Decorated): FoundCron {
    if (!provider.isDependencyTreeStatic() || provider.isTransient) {
      throw notCallable(decorated, 'a singleton provider', 'a request-scoped or transient provider');
    }
    const { where, handler } = decorated;
    const instance: unknown = provider.instance;
    return { where, ...decorated.check(), handle: (run) => handler.call(instance, run) };
  }

  #decorated(holder: object, className: string): Decorated[] {
    return methodsOf(holder).flatMap(([key, handler]) => {
      const where = `${className}.${String(key)}`;
      const cron = this.reflector.get<CronMetadata | undefined>(CRON_METADATA, handler);
      const job = this.reflector.get<JobMetadata | undefined>(JOB_METADATA, handler);
      const check = (metadata: CronMetadata) => {
        const { minIntervalMs } = this.settings;
        return checkCron(where, { ...metadata, minIntervalMs }, this.clock.now());
      };
      return [
        ...(cron ? [{ where, called: '@SingletonCron' as const, check: () => check(cron), handler }] : []),
        ...(job ? [{ where, called: '@JobHandler' as const, check: () => checkJob(where, job), handler }] : []),
      ];
    });
  }
}

function notCallable({ where, called }: Decorated, expected: string, got: string): CronDeclarationError {
  return new CronDeclarationError(where, `${called} needs ${expected}, got ${got}. Move the method to a singleton.`);
}

function instanceOf(provider: Provider): object | null {
  // Nest leaves the prototype of a class it has not made yet.
  return isObject(provider.instance) ? provider.instance : null;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

const LAST: ReadonlySet<object> = new Set([Object.prototype, Function.prototype]);

/** Inherited ones and those named by a symbol too, no accessor is called, and what is overridden is not there. */
function methodsOf(holder: object): [PropertyKey, RunHandler][] {
  const found = new Map<PropertyKey, RunHandler>();
  const seen = new Set<PropertyKey>();
  for (let object: object | null = holder; object && !LAST.has(object); object = Reflect.getPrototypeOf(object)) {
    for (const key of Reflect.ownKeys(object)) {
      const value: unknown = Reflect.getOwnPropertyDescriptor(object, key)?.value;
      if (!seen.has(key) && typeof value === 'function' && key !== 'constructor') found.set(key, value as RunHandler);
      seen.add(key);
    }
  }
  return [...found];
}
