import { Inject, Injectable } from '@nestjs/common';
import { DiscoveryService, Reflector } from '@nestjs/core';
import { type Clock } from '@fencepost/lease';
import { CLOCK } from '@fencepost/lease/nest';
import type { Declaration } from '../catalog/definition.js';
import type { CronHandler } from '../running/carrier.js';
import type { RunHandler } from '../running/run-context.js';
import { CronDeclarationError } from './cron-declaration-error.js';
import { checkCron } from './cron-declaration.js';
import type { JobsSettings } from './options.js';
import { CRON_METADATA, type CronMetadata } from './singleton-cron.decorator.js';
import { JOBS_SETTINGS } from './tokens.js';

type Provider = ReturnType<DiscoveryService['getProviders']>[number];

/** A method with `@SingletonCron`, not checked yet. */
interface Decorated {
  readonly where: string;
  readonly metadata: CronMetadata;
  readonly handler: RunHandler;
}

/** A `@SingletonCron` found in this process, checked, with the method it calls. */
export interface FoundCron extends CronHandler {
  /** Class and method. */
  readonly where: string;
  readonly declaration: Declaration;
}

/** Finds the crons of this process. */
@Injectable()
export class CronExplorer {
  @Inject(JOBS_SETTINGS) private readonly settings!: Pick<JobsSettings, 'minIntervalMs'>;

  constructor(
    @Inject(DiscoveryService) private readonly discovery: DiscoveryService,
    @Inject(Reflector) private readonly reflector: Reflector,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /**
   * All crons by name.
   * @throws {CronDeclarationError} for the first that is invalid, can't be called, or has a name that is taken
   */
  explore(): Map<string, FoundCron> {
    const found = new Map<string, FoundCron>();
    for (const provider of this.#providers()) {
      for (const cron of this.#inProvider(provider)) {
        const { name } = cron.declaration.definition;
        const other = found.get(name);
        if (other) {
          const problem = `option "name" of @SingletonCron: expected a name of its own, got ${JSON.stringify(name)}, `;
          throw new CronDeclarationError(cron.where, `${problem}which ${other.where} has already.`);
        }
        found.set(name, cron);
      }
    }
    return found;
  }

  /** Each instance once, also when it is provided under several tokens. Controllers too: whoever decorates one means it. */
  #providers(): Provider[] {
    const all = [...this.discovery.getProviders(), ...this.discovery.getControllers()];
    const instances = new Map(all.map((provider) => [instanceOf(provider) ?? provider, provider]));
    return [...instances.values()];
  }

  #inProvider(provider: Provider): FoundCron[] {
    // A factory or a value has no class of its own here, so what counts is what it made.
    const instance = instanceOf(provider);
    const prototype: unknown = instance ? Object.getPrototypeOf(instance) : provider.metatype?.prototype;
    const type = isObject(prototype) ? Reflect.get(prototype, 'constructor') : null;
    if (!isObject(prototype) || typeof type !== 'function') return [];
    const statics = this.#decorated(type, type.name)[0];
    if (statics) throw new CronDeclarationError(statics.where, problemOf('a method of an instance', 'a static one'));
    return this.#decorated(prototype, type.name).map((decorated) => this.#check(provider, decorated));
  }

  #check(provider: Provider, { where, metadata, handler }: Decorated): FoundCron {
    const { minIntervalMs } = this.settings;
    if (!provider.isDependencyTreeStatic() || provider.isTransient) {
      throw new CronDeclarationError(
        where,
        problemOf('a provider that exists once', 'a request-scoped or transient one'),
      );
    }
    const { declaration, retry } = checkCron(where, { ...metadata, minIntervalMs }, this.clock.now());
    const instance: unknown = provider.instance;
    return { where, declaration, retry, handle: (run) => handler.call(instance, run) };
  }

  #decorated(holder: object, className: string): Decorated[] {
    return methodsOf(holder).flatMap(([key, handler]) => {
      const metadata = this.reflector.get<CronMetadata | undefined>(CRON_METADATA, handler);
      return metadata ? [{ where: `${className}.${String(key)}`, metadata, handler }] : [];
    });
  }
}

function problemOf(expected: string, got: string): string {
  return `@SingletonCron needs ${expected}, got ${got}. Move the method to a singleton.`;
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
