import { ConfigurableModuleBuilder, Inject, Logger, Module } from '@nestjs/common';
import type { BeforeApplicationShutdown, OnApplicationShutdown } from '@nestjs/common';
import { systemClock } from '../base/clock.js';
import type { Clock } from '../base/clock.js';
import { LeaseKeeper } from '../holding/lease-keeper.js';
import { Leases } from '../holding/leases.js';
import { processIdentity } from '../base/identity.js';
import { leaseSettings } from '../connect/lease-settings.js';
import type { LeaseModuleOptions, LeaseSettings } from '../connect/lease-settings.js';
import { openStore, type OpenedStore } from '../connect/connect-leases.js';
import type { LeaseStore } from '../store/lease-store.js';
import { observers } from '../telemetry/lease-events.js';
import type { LeaseEvent, LeaseObserver } from '../telemetry/lease-events.js';

/** Injects the {@link Clock}. */
export const CLOCK = Symbol('fencepost:clock');

/** Injects the {@link LeaseStore}. */
export const LEASE_STORE = Symbol('fencepost:lease-store');

/** Injects the Redis connection that the module opened, and closes. */
export const LEASE_REDIS = Symbol('fencepost:lease-redis');

/** Injects the validated {@link LeaseSettings}. */
export const LEASE_SETTINGS = Symbol('fencepost:lease-settings');

/** Injects the {@link LeaseObserver} that hears of everything the module's leases do. */
export const LEASE_OBSERVER = Symbol('fencepost:lease-observer');

const logger = new Logger('LeaseModule');
const OPENED_STORE = Symbol('fencepost:opened-store');

const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN } = new ConfigurableModuleBuilder<LeaseModuleOptions>()
  .setClassMethodName('forRoot')
  .setExtras<{ isGlobal?: boolean }>({ isGlobal: false }, (definition, { isGlobal = false }) => ({
    ...definition,
    global: isGlobal,
  }))
  .build();

/** Warnings for the operator are logged even if no other lease event is, unless all are unwanted. */
function observerOf({ observe, log }: LeaseSettings): LeaseObserver {
  const warn = (event: LeaseEvent) => {
    if (event.name === 'store.warning') warningTo(log === true)(event.message);
  };
  return observe ? observers(warn, observe) : warn;
}

function warningTo(log: LeaseSettings['log']): (message: string) => void {
  return (message) => {
    if (log !== false) logger.warn(message);
  };
}

const providers = [
  {
    provide: LEASE_SETTINGS,
    inject: [MODULE_OPTIONS_TOKEN],
    useFactory: (options: LeaseModuleOptions): LeaseSettings => leaseSettings(options),
  },
  { provide: CLOCK, useValue: systemClock },
  {
    provide: LEASE_OBSERVER,
    inject: [LEASE_SETTINGS],
    useFactory: observerOf,
  },
  {
    provide: OPENED_STORE,
    inject: [LEASE_SETTINGS, LEASE_OBSERVER, CLOCK],
    useFactory: (settings: LeaseSettings, observe: LeaseObserver, clock: Clock): Promise<OpenedStore> =>
      openStore({ ...settings, observe }, { clock, onTrouble: warningTo(settings.log) }),
  },
  { provide: LEASE_STORE, inject: [OPENED_STORE], useFactory: ({ store }: OpenedStore) => store },
  { provide: LEASE_REDIS, inject: [OPENED_STORE], useFactory: ({ redis }: OpenedStore) => redis },
  {
    provide: Leases,
    inject: [LEASE_STORE, LEASE_SETTINGS, LEASE_OBSERVER, CLOCK],
    useFactory: (...[store, { holder, ttlMs: ttl }, observe, clock]: Parts): Leases =>
      new Leases({ store, clock, observe, holder: processIdentity(holder), ttl }),
  },
  { provide: LeaseKeeper, inject: [Leases], useFactory: ({ keeper }: Leases) => keeper },
];

type Parts = [store: LeaseStore, settings: LeaseSettings, observe: LeaseObserver, clock: Clock];

/**
 * Leases for a Nest application: `LeaseModule.forRoot({ redis: 'redis://localhost:6379' })`, or `forRootAsync`.
 *
 * At shutdown the leases are given back first, while other modules can still say goodbye to their stores, and the
 * connection is closed last.
 * @throws {SetupError} at start: an option or the server is not as it has to be
 */
@Module({
  providers,
  exports: [CLOCK, LEASE_OBSERVER, LEASE_REDIS, LEASE_SETTINGS, LEASE_STORE, LeaseKeeper, Leases],
})
export class LeaseModule extends ConfigurableModuleClass implements BeforeApplicationShutdown, OnApplicationShutdown {
  constructor(
    @Inject(Leases) private readonly leases: Leases,
    @Inject(OPENED_STORE) private readonly opened: OpenedStore,
    @Inject(LEASE_SETTINGS) private readonly settings: LeaseSettings,
  ) {
    super();
  }

  async beforeApplicationShutdown(): Promise<void> {
    try {
      await this.leases.close();
    } catch (error) {
      // Nothing is lost but time: what could not be given back ends by itself within its ttl.
      const message = `The leases of this process end by themselves: releasing them failed (${String(error)}).`;
      warningTo(this.settings.log)(message);
    }
  }

  async onApplicationShutdown(): Promise<void> {
    await this.opened.close();
  }
}
