import { Inject, Module } from '@nestjs/common';
import type { DynamicModule, OnApplicationShutdown, Provider } from '@nestjs/common';
import type { Clock } from '@fencepost/lease';
import { LeaseKeeper } from '@fencepost/lease/internal';
import type { RedisClient } from '@fencepost/lease/redis';
import { CLOCK, LEASE_REDIS } from '@fencepost/lease/nest';
import { Telemetry, type Role } from '@fencepost/jobs';
import { JOBS_SETTINGS, ROLES, type JobsSettings } from '@fencepost/jobs/internal';
import { JournalWriter } from '../journal/journal-writer.js';
import type { Journal } from '../journal/journal.js';
import { RedisJournal } from '../journal/redis-journal.js';
import { onePerJobs } from './one-per-jobs.js';
import { JOURNAL } from './tokens.js';

const journal: Provider = {
  provide: JOURNAL,
  inject: [LEASE_REDIS, JOBS_SETTINGS],
  useFactory: (redis: RedisClient, { prefix, tenant }: JobsSettings) => new RedisJournal({ redis, prefix, tenant }),
};

type Writing = [clock: Clock, telemetry: Telemetry, journal: Journal, roles: readonly Role[], keeper: LeaseKeeper];

const writer: Provider = {
  provide: JournalWriter,
  inject: [CLOCK, Telemetry, JOURNAL, ROLES, LeaseKeeper],
  useFactory: (...[clock, telemetry, into, roles, { holder: pod }]: Writing) => {
    const made = new JournalWriter({ clock, telemetry, journal: into, roles, pod });
    // At once: what the start has to say, such as which crons changed, comes only once. A process without a role is no pod.
    if (roles.length > 0) made.start();
    return made;
  },
};

/**
 * Writes the events of this pod to the journal, for either role. Part of {@link OperationsModule}; a worker that needs no more
 * imports it alone: `imports: [jobs, ObservingModule.on(jobs)]`.
 */
@Module({})
export class ObservingModule implements OnApplicationShutdown {
  @Inject(JournalWriter) private readonly writer!: JournalWriter;

  /** @param jobs what `JobsModule.forRoot` returned; for the same one it is the same module */
  static on(jobs: DynamicModule): DynamicModule {
    return observingOf(jobs);
  }

  /** After the roles, whose last events are written, and before the connection. */
  async onApplicationShutdown(): Promise<void> {
    await this.writer.stop();
  }
}

const observingOf = onePerJobs((jobs) => ({
  module: ObservingModule,
  imports: [jobs],
  providers: [journal, writer],
  exports: [JOURNAL],
}));
