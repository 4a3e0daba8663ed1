import { Module, Inject } from '@nestjs/common';
import type { DynamicModule, FactoryProvider, OnApplicationShutdown, Type } from '@nestjs/common';
import { SetupError } from '@fencepost/lease';
import { DiscoveryModule, ModuleRef } from '@nestjs/core';
import { closeRedis, type RedisClient } from '@fencepost/lease/redis';
import { LEASE_REDIS } from '@fencepost/lease/nest';
import { connectionModules, JobsCoreModule } from './jobs-core.module.js';
import { EnqueuingModule } from './enqueuing.module.js';
import { isRole, type JobsModuleOptions, type Role } from './options.js';
import type { JobsOptionsSource } from './options-source.js';
import { workerCopyOf } from './redis-copy.js';
import { AwaitedWorkers, awaitedWorkers } from './awaited-workers.js';
import { BootEndModule } from './boot-end.js';
import {
  CRON_DISCOVERY,
  CRON_EXPLORER,
  ROLES,
  RUN_NOTIFICATIONS,
  SCHEDULER,
  WORKER,
  WORKER_REDIS,
  WORKER_TOKEN,
} from './tokens.js';

/*
 * The module of each role. It is empty in a process without the role, and imports the code of the role otherwise. So a worker never
 * loads a scheduler: it starts sooner, needs less memory, and a fault in code that it doesn't use can't stop it. The roles are known
 * only when providers are created: the option `enabled` may remove them, and `ConfigModule` may read `FENCEPOST_ROLES` from a file.
 */

/** Provides a class that is imported only in a process with this role; `null` without it. */
function inRole(role: Role, provide: symbol, load: () => Promise<Type>): FactoryProvider {
  return {
    provide,
    inject: [ROLES, ModuleRef],
    useFactory: async (roles: readonly Role[], moduleRef: ModuleRef): Promise<unknown> =>
      roles.includes(role) ? moduleRef.create(await load()) : null,
  };
}

/** The scheduler role: acquires the leases of crons and enqueues their occurrences. Holds no user code. */
@Module({})
class SchedulerModule {
  /**
   * @param core the module both roles stand on
   * @param enqueuing the module that has the queue
   */
  static on(core: DynamicModule, enqueuing: DynamicModule): DynamicModule {
    return {
      module: SchedulerModule,
      imports: [core, enqueuing],
      providers: [inRole('scheduler', SCHEDULER, async () => (await import('./scheduler-runner.js')).SchedulerRunner)],
      exports: [SCHEDULER],
    };
  }
}

/** The worker role: declares this process' crons and executes their runs. */
@Module({})
class WorkerModule implements OnApplicationShutdown {
  constructor(
    @Inject(WORKER_REDIS) private readonly redis: RedisClient | null,
    @Inject(WORKER_TOKEN) token: object,
    @Inject(ROLES) roles: readonly Role[],
  ) {
    // No worker boots where the role was taken away.
    if (!roles.includes('worker')) awaitedWorkers.boots(token);
  }

  /**
   * @param core the module both roles stand on
   * @param enqueuing the module that enqueues jobs
   * @param isAwaited whether the code gives this process the role
   */
  static on(core: DynamicModule, enqueuing: DynamicModule, isAwaited: boolean): DynamicModule {
    const token = isAwaited ? awaitedWorkers.add() : {};
    return {
      module: WorkerModule,
      imports: [core, enqueuing, DiscoveryModule, BootEndModule],
      providers: [
        { provide: WORKER_TOKEN, useValue: token },
        { provide: AwaitedWorkers, useValue: awaitedWorkers },
        inRole('worker', CRON_EXPLORER, async () => (await import('./cron-explorer.js')).CronExplorer),
        inRole('worker', CRON_DISCOVERY, async () => (await import('./cron-discovery.js')).CronDiscovery),
        inRole('worker', RUN_NOTIFICATIONS, async () => (await import('./run-notifications.js')).RunNotifications),
        inRole('worker', WORKER, async () => (await import('./worker-runner.js')).WorkerRunner),
        { provide: WORKER_REDIS, inject: [ROLES, LEASE_REDIS], useFactory: workerRedisOf },
      ],
    };
  }

  async onApplicationShutdown(): Promise<void> {
    if (this.redis) await closeRedis(this.redis);
  }
}

function workerRedisOf(roles: readonly Role[], redis: RedisClient): RedisClient | null {
  return roles.includes('worker') ? workerCopyOf(redis) : null;
}

/** What this process does: one, both or none of the roles. `FENCEPOST_ROLES` overrides it. */
interface Roles {
  readonly roles: readonly Role[];
  readonly shadow?: false;
}

/**
 * Nothing but watch: which crons of `@nestjs/schedule` this process runs, and which it would run with Fencepost. `fencepost
 * shadow report` compares.
 */
interface Shadow {
  readonly shadow: true;
  readonly roles?: undefined;
}

/**
 * Singleton cron for a Nest application: `JobsModule.forRoot({ roles: ['worker'], redis: 'redis://localhost:6379' })`.
 *
 * {@link Jobs} can be injected in any process, with or without a role. `OperationsModule.on(jobs)` of `@fencepost/operations` adds
 * what looks at crons and changes them.
 *
 * Call `app.enableShutdownHooks()`, so that SIGTERM hands leases and runs over instead of letting them expire.
 */
@Module({})
export class JobsModule {
  /** @throws {SetupError} naming each wrong option, what was expected, and what came */
  static forRoot({ roles, shadow, ...options }: JobsModuleOptions & (Roles | Shadow)): DynamicModule {
    return moduleOf({ roles, shadow }, { useFactory: () => options });
  }

  /**
   * Takes the options from the application's providers: by `useFactory` with `inject`, `useClass` or `useExisting`. The roles stand
   * beside them.
   * @throws {SetupError} as `forRoot`, and unless exactly one of the three is given
   */
  static forRootAsync({ roles, shadow, ...source }: JobsOptionsSource & (Roles | Shadow)): DynamicModule {
    return moduleOf({ roles, shadow }, source);
  }
}

interface Asked {
  readonly roles: readonly Role[] | undefined;
  readonly shadow: boolean | undefined;
}

function moduleOf({ roles, shadow }: Asked, source: JobsOptionsSource): DynamicModule {
  if (shadow) return { module: JobsModule, imports: [shadowModule(source, roles)] };
  const inCode = checkRoles(roles);
  const core = JobsCoreModule.forRootAsync(source, inCode);
  const enqueuing = EnqueuingModule.on(core);
  const worker = WorkerModule.on(core, enqueuing, inCode.includes('worker'));
  newest = {
    module: JobsModule,
    imports: [core, enqueuing, SchedulerModule.on(core, enqueuing), worker],
    exports: [core, enqueuing, SchedulerModule, WorkerModule],
  };
  return newest;
}

let newest: DynamicModule | null = null;

/** What `forRoot` made last in this process, for a module that is imported beside it and was not given it. */
export function newestJobsModule(): DynamicModule | null {
  return newest;
}

/** Imported only where it is asked for. */
async function shadowModule(source: JobsOptionsSource, roles: unknown): Promise<DynamicModule> {
  if (roles !== undefined) {
    throw new SetupError('JobsModule: expected either "shadow" or "roles": in shadow mode a process runs nothing.');
  }
  const { ShadowModule } = await import('./shadow.module.js');
  return ShadowModule.on(...connectionModules(source));
}

function checkRoles(roles: readonly Role[] | undefined): readonly Role[] {
  const known = Array.isArray(roles) && roles.every(isRole);
  if (known) return [...new Set(roles)];
  const expected = 'expected a list of "scheduler", "worker" or both, or [] for a process that runs nothing';
  throw new SetupError(`JobsModule, option "roles": ${expected}, got ${JSON.stringify(roles)}.`);
}
