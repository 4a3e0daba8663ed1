import { hostname } from 'node:os';
import { Inject, Module } from '@nestjs/common';
import type { DynamicModule, OnApplicationShutdown, Provider } from '@nestjs/common';
import type { Clock } from '@fencepost/lease';
import { LeaseKeeper } from '@fencepost/lease/internal';
import { shownAddresses } from '@fencepost/lease/internal/redis';
import type { RedisClient } from '@fencepost/lease/redis';
import { CLOCK, LEASE_REDIS } from '@fencepost/lease/nest';
import { Telemetry, type Role } from '@fencepost/jobs';
import { PodRoles, JOBS_SETTINGS, ROLES, type JobsSettings } from '@fencepost/jobs/internal';
import { JournalWriter } from '../journal/journal-writer.js';
import type { Journal } from '../journal/journal.js';
import { RedisJournal } from '../journal/redis-journal.js';
import { libraryVersion } from '../pods/library-version.js';
import { onePerJobs } from './one-per-jobs.js';
import { watchLoopLag, PodReporter, type PodFacts } from '../pods/pod-reporter.js';
import type { PodRegistry } from '../pods/pod-registry.js';
import { RedisPodRegistry } from '../pods/redis-pod-registry.js';
import { JOURNAL, POD_REGISTRY } from './tokens.js';

const STORE = [LEASE_REDIS, JOBS_SETTINGS];

const journal: Provider = {
  provide: JOURNAL,
  inject: STORE,
  useFactory: (redis: RedisClient, { prefix, tenant }: JobsSettings) => new RedisJournal({ redis, prefix, tenant }),
};

const registry: Provider = {
  provide: POD_REGISTRY,
  inject: STORE,
  useFactory: (redis: RedisClient, { prefix, tenant }: JobsSettings) => new RedisPodRegistry({ redis, prefix, tenant }),
};

type Ears = [clock: Clock, telemetry: Telemetry];
type Writing = [...Ears, journal: Journal, roles: readonly Role[], keeper: LeaseKeeper];
type Reporting = [...Ears, registry: PodRegistry, facts: PodFacts, begun: PodRoles];

const writer: Provider = {
  provide: JournalWriter,
  inject: [CLOCK, Telemetry, JOURNAL, ROLES, LeaseKeeper],
  useFactory: (...[clock, telemetry, into, roles, { holder: pod }]: Writing) => {
    const made = new JournalWriter({ clock, telemetry, journal: into, roles, pod });
    // At once: what the start has to say, as which builds are older, comes only once.
    made.start();
    return made;
  },
};

const FACTS = Symbol('POD_FACTS');

const facts: Provider = {
  provide: FACTS,
  inject: [CLOCK, ROLES, JOBS_SETTINGS, LeaseKeeper],
  useFactory: (...[clock, roles, settings, { holder: pod }]: [Clock, readonly Role[], JobsSettings, LeaseKeeper]) =>
    podFacts({ pod, roles, startedAt: clock.now() }, settings),
};

const reporter: Provider = {
  provide: PodReporter,
  inject: [CLOCK, Telemetry, POD_REGISTRY, FACTS, PodRoles],
  useFactory: (...[clock, telemetry, pods, known, begun]: Reporting) => {
    const made = new PodReporter({ clock, telemetry, registry: pods, facts: known, watchLag: watchLoopLag });
    begun.listen((role) => made.know(role));
    return made;
  },
};

/**
 * Writes the events of this pod to the journal, and reports its state to the list of pods; for either role. Part of
 * {@link OperationsModule}; a worker that needs no more imports it alone: `imports: [jobs, ObservingModule.on(jobs)]`.
 */
@Module({})
export class ObservingModule implements OnApplicationShutdown {
  @Inject(JournalWriter) private readonly writer!: JournalWriter;
  @Inject(PodReporter) private readonly reporter!: PodReporter;

  /** @param jobs what `JobsModule.forRoot` returned; for the same one it is the same module */
  static on(jobs: DynamicModule): DynamicModule {
    return observingOf(jobs);
  }

  /** After the roles, whose last events are written, and before the connection. */
  async onApplicationShutdown(): Promise<void> {
    await this.reporter.stop();
    await this.writer.stop();
  }
}

const observingOf = onePerJobs((jobs) => ({
  module: ObservingModule,
  imports: [jobs],
  providers: [journal, writer, registry, facts, reporter],
  exports: [JOURNAL, POD_REGISTRY],
}));

function podFacts(self: Pick<PodFacts, 'pod' | 'roles' | 'startedAt'>, settings: JobsSettings): PodFacts {
  const { app, buildSeq, ledger, leaseTtlMs, runLeaseMs, sweepEveryMs, waitReplicas } = settings;
  return {
    ...self,
    ...{ runLeaseMs, sweepEveryMs, waitReplicas },
    ...(self.roles.includes('scheduler') ? { leases: placeOf(settings) } : {}),
    label: self.pod.slice(0, self.pod.lastIndexOf('/')),
    host: hostname(),
    pid: process.pid,
    version: libraryVersion(),
    node: process.version,
    zoneData: process.versions.tz ?? 'unknown',
    // A scheduler carries no code of the user's, so it is no build of theirs.
    ...{ app, buildSeq: self.roles.includes('worker') ? buildSeq : null, ledger, leaseTtlMs },
  };
}

function placeOf({ leases }: JobsSettings): string {
  return typeof leases === 'function' ? 'a store of its own' : shownAddresses(leases);
}
