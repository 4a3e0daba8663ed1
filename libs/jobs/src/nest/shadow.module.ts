import { Inject, Logger, Module } from '@nestjs/common';
import type { BeforeApplicationShutdown, DynamicModule, OnApplicationBootstrap, OnModuleInit } from '@nestjs/common';
import { DiscoveryModule, DiscoveryService, MetadataScanner } from '@nestjs/core';
import type { Clock } from '@fencepost/lease';
import { CLOCK, LEASE_REDIS } from '@fencepost/lease/nest';
import { LeaseKeeper } from '@fencepost/lease/internal';
import type { RedisClient } from '@fencepost/lease/redis';
import { RedisMembership } from '../membership/redis-membership.js';
import { RedisShadowLog, shadowPrefix } from '../shadow/redis-shadow-log.js';
import type { ShadowInterval } from '../shadow/shadow-log.js';
import { ShadowRecorder } from '../shadow/shadow-recorder.js';
import type { JobsSettings } from './options.js';
import {
  hookIntervals,
  hookRegistry,
  oldCron,
  oldDeclaration,
  oldInterval,
  registryOf,
  takeDeclaration,
  takeInterval,
  type OldCronJob,
  type OldDeclaration,
} from './schedule-registry.js';
import { JOBS_SETTINGS } from './tokens.js';

/** At most this often, a failing store is logged. */
const COMPLAIN_EVERY_MS = 60_000;

type Parts = [redis: RedisClient, settings: JobsSettings, clock: Clock, keeper: Pick<LeaseKeeper, 'holder'>];

function recorderOf(...[redis, { prefix, tenant }, clock, { holder: pod }]: Parts): ShadowRecorder {
  const logger = new Logger('Fencepost');
  const membership = new RedisMembership({ redis, prefix: shadowPrefix(prefix), tenant });
  const log = new RedisShadowLog({ redis, prefix, tenant });
  let complainedAt = -Infinity;
  const onFailure = (error: unknown) => {
    const now = clock.monotonic();
    if (now - complainedAt < COMPLAIN_EVERY_MS) return;
    complainedAt = now;
    logger.warn(`Shadow mode could not write to Redis, and its report will lack records: ${String(error)}`);
  };
  return new ShadowRecorder({ clock, log, membership, pod, onFailure });
}

/** Watches the crons of `@nestjs/schedule` beside which it is imported, and runs nothing itself. */
@Module({})
export class ShadowModule implements OnModuleInit, OnApplicationBootstrap, BeforeApplicationShutdown {
  readonly #logger = new Logger('Fencepost');

  constructor(
    @Inject(DiscoveryService) private readonly discovery: DiscoveryService,
    @Inject(ShadowRecorder) private readonly recorder: ShadowRecorder,
    @Inject(JOBS_SETTINGS) private readonly settings: JobsSettings,
  ) {}

  static on(settings: DynamicModule, lease: DynamicModule): DynamicModule {
    const inject = [LEASE_REDIS, JOBS_SETTINGS, CLOCK, LeaseKeeper];
    return {
      module: ShadowModule,
      imports: [settings, lease, DiscoveryModule],
      providers: [{ provide: ShadowRecorder, inject, useFactory: recorderOf }],
    };
  }

  /** Before any module is bootstrapped, which is when the jobs are registered. */
  onModuleInit(): void {
    if (!this.settings.enabled) return;
    const registry = registryOf(this.discovery);
    if (registry === null) {
      this.#logger.warn('Shadow mode found no SchedulerRegistry. Import ScheduleModule.forRoot() of @nestjs/schedule.');
      return;
    }
    const declared = this.#declared(oldDeclaration);
    hookRegistry(registry, (key, job) => this.#added(declared, key, job));
    const intervals = this.#declared(oldInterval);
    hookIntervals(registry, (key) => this.#intervalAdded(takeInterval(intervals, key)));
  }

  onApplicationBootstrap(): void {
    if (!this.settings.enabled) return;
    this.#logger.log('Shadow mode: the crons of @nestjs/schedule are watched, and Fencepost runs nothing.');
    this.recorder.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    if (this.settings.enabled) await this.recorder.stop();
  }

  #added(declared: OldDeclaration[], key: string, job: OldCronJob): ((kind: 'tick' | 'busy') => void) | null {
    const declaration = takeDeclaration(declared, key, job);
    if (declaration?.disabled) return null;
    const name = declaration?.name ?? declaration?.where ?? key;
    try {
      this.recorder.watch(oldCron(name, job), declaration?.initialDelayMs);
    } catch (error) {
      this.#logger.warn(
        `Shadow mode does not watch "${name}": ${error instanceof Error ? error.message : String(error)}`,
      );
      return null;
    }
    return (kind) => this.recorder.note(kind, name);
  }

  #intervalAdded(interval: ShadowInterval): void {
    this.#logger.warn(
      `Shadow mode does not compare "${interval.name}": an interval counts from the boot of each pod and runs in each.`,
    );
    this.recorder.noteInterval(interval);
  }

  #declared<Declaration>(read: (where: string, method: object) => Declaration | null): Declaration[] {
    const scanner = new MetadataScanner();
    const wrappers = [...this.discovery.getControllers(), ...this.discovery.getProviders()];
    return wrappers.flatMap(({ instance }: { readonly instance: unknown }) => {
      const prototype: unknown = typeof instance === 'object' && instance ? Object.getPrototypeOf(instance) : null;
      if (typeof prototype !== 'object' || prototype === null) return [];
      return scanner.getAllMethodNames(prototype).flatMap((method) => {
        const handler: unknown = Reflect.get(prototype, method);
        const where = `${prototype.constructor.name}.${method}`;
        return typeof handler === 'function' ? (read(where, handler) ?? []) : [];
      });
    });
  }
}
