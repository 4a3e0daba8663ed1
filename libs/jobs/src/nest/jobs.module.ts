import { Module, Inject, type DynamicModule, type OnApplicationShutdown } from '@nestjs/common';
import { SetupError } from '@fencepost/lease';
import { DiscoveryModule } from '@nestjs/core';
import { closeRedis, type RedisClient } from '@fencepost/lease/redis';
import { LEASE_REDIS } from '@fencepost/lease/nest';
import { connectionModules, JobsCoreModule, type JobsOptionsSource } from './jobs-core.module.js';
import { EnqueuingModule } from './enqueuing.module.js';
import type { JobsModuleOptions, Role } from './options.js';
import { workerCopyOf } from './redis-copy.js';
import { SCHEDULER, WORKER_REDIS } from './tokens.js';

/*
 * The module of each role. What the role does is imported when a process asks for the role, so a worker never loads a scheduler:
 * it starts sooner, needs less memory, and a fault in code that it doesn't use can't stop it. The classes stand here, because
 * `JobsModule` names what it exports before anything is imported.
 */

/** The scheduler role: acquires the leases of crons and enqueues their occurrences. Holds no user code. */
@Module({})
class SchedulerModule {
  /**
   * @param core the module both roles stand on
   * @param enqueuing the module that has the queue
   */
  static async on(core: DynamicModule, enqueuing: DynamicModule): Promise<DynamicModule> {
    const { SchedulerRunner } = await import('./scheduler-runner.js');
    return {
      module: SchedulerModule,
      imports: [core, enqueuing],
      providers: [{ provide: SCHEDULER, useClass: SchedulerRunner }],
      exports: [SCHEDULER],
    };
  }
}

/** The worker role: declares this process' crons and executes their runs. */
@Module({})
class WorkerModule implements OnApplicationShutdown {
  constructor(@Inject(WORKER_REDIS) private readonly redis: RedisClient) {}

  /**
   * @param core the module both roles stand on
   * @param enqueuing the module that enqueues jobs
   */
  static async on(core: DynamicModule, enqueuing: DynamicModule): Promise<DynamicModule> {
    const [{ WorkerRunner }, { CronExplorer }, { RunNotifications }] = await Promise.all([
      import('./worker-runner.js'),
      import('./cron-explorer.js'),
      import('./worker-runner.js'),
    ]);
    return {
      module: WorkerModule,
      imports: [core, enqueuing, DiscoveryModule],
      providers: [
        ...[CronExplorer, WorkerRunner, RunNotifications],
        { provide: WORKER_REDIS, inject: [LEASE_REDIS], useFactory: workerCopyOf },
      ],
    };
  }

  async onApplicationShutdown(): Promise<void> {
    await closeRedis(this.redis);
  }
}

/** What this process does; one process may do both. */
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

const MODULES = { scheduler: SchedulerModule, worker: WorkerModule };

/**
 * Singleton cron for a Nest application: `JobsModule.forRoot({ roles: ['worker'], redis: 'redis://localhost:6379' })`.
 *
 * In either role {@link Jobs} can be injected. `OperationsModule.on(jobs)` of `@fencepost/operations` adds what looks at crons and
 * changes them.
 *
 * Call `app.enableShutdownHooks()`, so that SIGTERM hands leases and runs over instead of letting them expire.
 */
@Module({})
export class JobsModule {
  /** @throws {SetupError} naming each wrong option, what was expected, and what came */
  static forRoot({ roles, shadow, ...options }: JobsModuleOptions & (Roles | Shadow)): DynamicModule {
    return moduleOf({ roles, shadow }, { useFactory: () => options });
  }

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
  const ours = checkRoles(roles);
  const core = JobsCoreModule.forRootAsync(source, ours);
  const enqueuing = EnqueuingModule.on(core);
  const roleModules = ours.map((role) => MODULES[role]);
  newest = {
    module: JobsModule,
    imports: [core, enqueuing, ...roleModules.map((role) => role.on(core, enqueuing))],
    exports: [core, enqueuing, ...roleModules],
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
  const known = Array.isArray(roles) && roles.length > 0 && roles.every((role) => Object.hasOwn(MODULES, role));
  if (known) return [...new Set(roles)];
  throw new SetupError(
    `JobsModule, option "roles": expected a list of "scheduler", "worker" or both, got ${JSON.stringify(roles)}.`,
  );
}
