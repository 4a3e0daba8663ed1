import { hostname } from 'node:os';
import { Inject, Injectable } from '@nestjs/common';
import type { OnApplicationShutdown, Provider } from '@nestjs/common';
import type { Clock } from '@fencepost/lease';
import { LeaseKeeper } from '@fencepost/lease/internal';
import type { RedisClient } from '@fencepost/lease/redis';
import { CLOCK, LEASE_REDIS } from '@fencepost/lease/nest';
import { JournalFeed } from '../journal/journal-feed.js';
import { JournalWriter } from '../journal/journal-writer.js';
import type { Journal } from '../journal/journal.js';
import { RedisJournal } from '../journal/redis-journal.js';
import { libraryVersion } from '../pods/library-version.js';
import { watchLoopLag } from '../pods/loop-lag.js';
import type { PodRegistry } from '../pods/pod-registry.js';
import { PodReporter, type PodFacts } from '../pods/pod-reporter.js';
import { RedisPodRegistry } from '../pods/redis-pod-registry.js';
import { Telemetry } from '../telemetry/telemetry.js';
import type { JobsSettings, Role } from './options.js';
import type { Reads } from './reads.js';
import { JOBS_SETTINGS, JOURNAL, POD_REGISTRY, READS, ROLES } from './tokens.js';

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
type Reporting = [...Ears, registry: PodRegistry, facts: PodFacts];

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

const feed: Provider = {
  provide: JournalFeed,
  inject: [CLOCK, Telemetry, READS],
  useFactory: (...[clock, telemetry, { journal: from }]: [...Ears, reads: Reads]) =>
    new JournalFeed({ clock, telemetry, journal: from }),
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
  inject: [CLOCK, Telemetry, POD_REGISTRY, FACTS],
  useFactory: (...[clock, telemetry, pods, known]: Reporting) =>
    new PodReporter({ clock, telemetry, registry: pods, facts: known, watchLag: watchLoopLag }),
};

/** Ends what tells others of this pod: after its roles, whose last words are written, and before the connection. */
@Injectable()
class Observing implements OnApplicationShutdown {
  @Inject(JournalWriter) private readonly writer!: JournalWriter;
  @Inject(JournalFeed) private readonly feed!: JournalFeed;
  @Inject(PodReporter) private readonly reporter!: PodReporter;

  async onApplicationShutdown(): Promise<void> {
    await Promise.all([this.feed.stop(), this.reporter.stop()]);
    await this.writer.stop();
  }
}

/** What there is to see a deployment by, in either role. */
export function observing(roles: readonly Role[]) {
  return {
    providers: [{ provide: ROLES, useValue: roles }, journal, writer, feed, registry, facts, reporter, Observing],
    exports: [JOURNAL, JournalFeed, POD_REGISTRY, PodReporter, ROLES],
  };
}

function podFacts(self: Pick<PodFacts, 'pod' | 'roles' | 'startedAt'>, settings: JobsSettings): PodFacts {
  const { app, buildSeq, ledger, leaseTtlMs, runLeaseMs, sweepEveryMs, waitReplicas } = settings;
  return {
    ...self,
    ...{ runLeaseMs, sweepEveryMs, waitReplicas },
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
