import { hostname } from 'node:os';
import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import type { Clock } from '@fencepost/lease';
import { LeaseKeeper } from '@fencepost/lease/internal';
import { shownAddresses } from '@fencepost/lease/internal/redis';
import { CLOCK } from '@fencepost/lease/nest';
import { libraryVersion } from '../pods/library-version.js';
import type { PodRegistry } from '../pods/pod-registry.js';
import { PodReporter, watchLoopLag, type PodFacts } from '../pods/pod-reporter.js';
import { Telemetry } from '../telemetry/telemetry.js';
import type { JobsSettings, Role } from './options.js';
import { PodRoles } from './pod-roles.js';
import { JOBS_SETTINGS, POD_REGISTRY, ROLES } from './tokens.js';

/** Reports this pod while it has a role, whatever else its application imports: `doctor` and alerts would call it missing. */
@Injectable()
export class PodReporting implements OnModuleInit {
  @Inject(POD_REGISTRY) private readonly registry!: PodRegistry;
  @Inject(JOBS_SETTINGS) private readonly settings!: JobsSettings;
  @Inject(ROLES) private readonly roles!: readonly Role[];
  @Inject(LeaseKeeper) private readonly keeper!: LeaseKeeper;
  @Inject(CLOCK) private readonly clock!: Clock;
  @Inject(Telemetry) private readonly telemetry!: Telemetry;
  @Inject(PodRoles) private readonly podRoles!: PodRoles;

  #reporter: PodReporter | null = null;

  get reporter(): PodReporter {
    const { registry, clock, telemetry } = this;
    this.#reporter ??= new PodReporter({ registry, clock, telemetry, facts: this.#facts(), watchLag: watchLoopLag });
    return this.#reporter;
  }

  /** The roles begin after it. */
  onModuleInit(): void {
    const { reporter } = this;
    this.podRoles.listen((role) => reporter.know(role));
  }

  #facts(): PodFacts {
    const { roles, settings, clock } = this;
    const { holder: pod } = this.keeper;
    const { app, ledger, leaseTtlMs, runLeaseMs, removeAfterMs, sweepEveryMs, waitReplicas } = settings;
    return {
      pod,
      label: pod.slice(0, pod.lastIndexOf('/')),
      roles,
      host: hostname(),
      pid: process.pid,
      startedAt: clock.now(),
      version: libraryVersion(),
      node: process.version,
      zoneData: process.versions.tz ?? 'unknown',
      app,
      ledger,
      leaseTtlMs,
      runLeaseMs,
      sweepEveryMs,
      waitReplicas,
      ...(roles.includes('scheduler') && { leases: placeOf(settings) }),
      ...(roles.includes('worker') && { removeAfterMs }),
    };
  }
}

/** Where the leases of crons are, without passwords. */
export function placeOf({ leases }: JobsSettings): string {
  return typeof leases === 'function' ? 'a store of its own' : shownAddresses(leases);
}
