import { Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import { SetupError } from '@fencepost/lease';
import { JobsCoreModule, type JobsOptionsSource } from './jobs-core.module.js';
import { EnqueuingModule } from './enqueuing.module.js';
import type { JobsModuleOptions, Role } from './options.js';
import { SchedulerModule, WorkerModule } from './roles.module.js';

interface Roles {
  /** What this process does; one process may do both. */
  readonly roles: readonly Role[];
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
  static forRoot({ roles, ...options }: JobsModuleOptions & Roles): DynamicModule {
    return JobsModule.forRootAsync({ roles, useFactory: () => options });
  }

  static forRootAsync({ roles, ...source }: JobsOptionsSource & Roles): DynamicModule {
    const ours = checkRoles(roles);
    const core = JobsCoreModule.forRootAsync(source, ours);
    const enqueuing = EnqueuingModule.on(core);
    const roleModules = ours.map((role) => MODULES[role]);
    return {
      module: JobsModule,
      imports: [core, enqueuing, ...roleModules.map((role) => role.on(core, enqueuing))],
      exports: [core, enqueuing, ...roleModules],
    };
  }
}

function checkRoles(roles: readonly Role[]): readonly Role[] {
  const known = Array.isArray(roles) && roles.length > 0 && roles.every((role) => Object.hasOwn(MODULES, role));
  if (known) return [...new Set(roles)];
  throw new SetupError(
    `JobsModule, option "roles": expected a list of "scheduler", "worker" or both, got ${JSON.stringify(roles)}.`,
  );
}
