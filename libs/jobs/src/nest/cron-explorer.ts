import { Inject, Injectable } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import type { Clock } from '@fencepost/lease';
import { CLOCK } from '@fencepost/lease/nest';
import type { Declaration } from '@fencepost/ledger/catalog';
import type { CronHandler } from '../running/delivery.js';
import type { RunHandler } from '../running/run-context.js';
import { resolvedAtBoot } from './at-boot.js';
import { candidatesOf, checkCallable, instanceOf, prototypeOf, type Candidate, type Provider } from './candidates.js';
import { checkCron, checkJob, type CheckedCron } from './cron-declaration.js';
import { nameFor, optionsFor } from './cron-name.js';
import { allDecorated, markFound, notFound } from './decorated-methods.js';
import type { JobsSettings } from './options.js';
import { takenName } from './taken-name.js';
import { JOBS_SETTINGS } from './tokens.js';
import { undiscovered, type UndiscoveredMethod } from './undiscovered.js';

/** A cron or a job found in this process, checked, with the method it calls. */
export interface FoundCron extends CronHandler {
  /** Class and method. */
  readonly where: string;
  readonly declaration: Declaration;
}

/** Finds the crons and the jobs of this process, whenever it is asked: a lazy module may have added providers. */
@Injectable()
export class CronExplorer {
  @Inject(JOBS_SETTINGS) private readonly settings!: Pick<JobsSettings, 'minIntervalMs'>;

  constructor(
    @Inject(DiscoveryService) private readonly discovery: DiscoveryService,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /**
   * All of them by name: no cron is called as a job is.
   * @throws {CronDeclarationError} for the first that is invalid, can't be called, or has a name that is taken
   */
  explore(): Map<string, FoundCron> {
    const found = new Map<string, FoundCron>();
    const candidates = new Map<string, Candidate>();
    for (const candidate of this.#candidates()) {
      checkCallable(candidate);
      const checked = this.#check(candidate);
      const { name } = checked.declaration.definition;
      const other = candidates.get(name);
      if (other) throw takenName(name, candidate, other);
      candidates.set(name, candidate);
      found.set(name, { where: candidate.where, ...checked, handle: callerOf(candidate) });
      markFound(candidate.decorated);
    }
    return found;
  }

  /** How many crons and jobs {@link explore} has to check, and whether the process has none besides. Checks nothing itself. */
  survey(): { readonly candidates: number; readonly isComplete: boolean } {
    const candidates = this.#candidates();
    const here = new Set(candidates.map(({ decorated }) => decorated));
    return { candidates: candidates.length, isComplete: [...allDecorated()].every((method) => here.has(method)) };
  }

  /** The methods that no application of this process has found so far, and why this one has not. */
  undiscovered(): UndiscoveredMethod[] {
    const methods = notFound();
    if (methods.length === 0) return [];
    const known = this.#providers().map((provider) => ({
      token: provider.token,
      instance: instanceOf(provider),
      prototype: prototypeOf(provider),
    }));
    return undiscovered(methods, known);
  }

  /** Of each instance once, also when it is provided under several tokens. */
  #candidates(): Candidate[] {
    const instances = new Map(this.#providers().map((provider) => [instanceOf(provider) ?? provider, provider]));
    return [...instances.values()].flatMap(candidatesOf);
  }

  /** Controllers too: a decorator there is meant. */
  #providers(): Provider[] {
    return [...this.discovery.getProviders(), ...this.discovery.getControllers()];
  }

  #check({ where, type, decorated, provider }: Candidate): CheckedCron {
    if (decorated.called === '@JobHandler') {
      const { name, options } = decorated.metadata;
      return checkJob(where, { name: nameFor(type, name), options });
    }
    const resolved = resolvedAtBoot(where, decorated.metadata, provider.instance);
    const { minIntervalMs } = this.settings;
    return checkCron(
      where,
      { ...resolved, options: optionsFor(type, resolved.options), minIntervalMs },
      this.clock.now(),
    );
  }
}

/** Calls the method that the instance has when a run begins: a decorator may have replaced the one that was declared. */
function callerOf({ provider, key, where }: Candidate): RunHandler {
  return (run) => {
    const { instance } = provider;
    const method: unknown = Reflect.get(instance as object, key);
    if (typeof method !== 'function') throw new TypeError(`${where} is no longer a method.`);
    return method.call(instance, run) as unknown;
  };
}
