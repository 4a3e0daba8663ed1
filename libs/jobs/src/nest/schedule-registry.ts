import type { DiscoveryService } from '@nestjs/core';
import { zoneOfOffset } from '@fencepost/schedule';
import type { ShadowCron, ShadowInterval } from '../shadow/shadow-log.js';

/** A `CronJob` of the package cron, as far as it matters here. */
export interface OldCronJob {
  fireOnTick: (...args: unknown[]) => unknown;
  readonly cronTime?: {
    readonly source?: unknown;
    readonly timeZone?: unknown;
    readonly utcOffset?: unknown;
    readonly realDate?: unknown;
  };
  readonly waitForCompletion?: boolean;
  readonly isCallbackRunning?: boolean;
}

/** `SchedulerRegistry` of `@nestjs/schedule`, as far as it matters here. */
export interface OldRegistry {
  addCronJob: (name: string, job: OldCronJob) => void;
  getCronJobs: () => Map<string, OldCronJob>;
  addInterval: (name: string, handle: unknown) => void;
  getIntervals: () => readonly string[];
}

/** A method with `@Cron`. */
export interface OldDeclaration {
  /** Class and method. */
  readonly where: string;
  readonly name: string | undefined;
  readonly cronTime: unknown;
  readonly disabled: boolean;
  readonly initialDelayMs: number;
}

/**
 * Known by its name and its methods: there may be another copy of the package than the one that this library would find.
 * @returns `null` where `@nestjs/schedule` is not imported
 */
export function registryOf(discovery: Pick<DiscoveryService, 'getProviders'>): OldRegistry | null {
  const named = discovery.getProviders().filter(({ name }) => name === 'SchedulerRegistry');
  return named.map(({ instance }): unknown => instance).find(isOldRegistry) ?? null;
}

function isOldRegistry(value: unknown): value is OldRegistry {
  const has = (method: string) => typeof Reflect.get(value as object, method) === 'function';
  return (
    typeof value === 'object' &&
    value !== null &&
    ['addCronJob', 'getCronJobs', 'addInterval', 'getIntervals'].every(has)
  );
}

/** A method with `@Interval`. */
export interface OldInterval {
  /** Class and method. */
  readonly where: string;
  readonly name: string | undefined;
  readonly everyMs: number | null;
}

/** What `@Interval` leaves at a method; `null` for a method without it. */
export function oldInterval(where: string, method: object): OldInterval | null {
  const options: unknown = Reflect.getMetadata('SCHEDULE_INTERVAL_OPTIONS', method);
  if (typeof options !== 'object' || options === null) return null;
  const [name, everyMs]: unknown[] = [Reflect.getMetadata('SCHEDULER_NAME', method), Reflect.get(options, 'timeout')];
  return {
    where,
    name: typeof name === 'string' ? name : undefined,
    everyMs: typeof everyMs === 'number' ? everyMs : null,
  };
}

/** Which method an interval of the registry belongs to: one without a name is registered under a random UUID. */
export function takeInterval(declared: OldInterval[], key: string): ShadowInterval {
  const wanted = UUID.test(key) ? undefined : key;
  const found = declared.findIndex(({ name }) => name === wanted);
  const [one] = declared.splice(found, found >= 0 ? 1 : 0);
  return { name: one?.name ?? one?.where ?? key, everyMs: one?.everyMs ?? null };
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Calls `added` for every interval there is and will be. */
export function hookIntervals(registry: OldRegistry, added: (key: string) => void): void {
  for (const key of registry.getIntervals()) added(key);
  const add = registry.addInterval;
  registry.addInterval = (key, handle) => {
    add.call(registry, key, handle);
    added(key);
  };
}

/** What `@Cron` leaves at a method; `null` for a method without it. */
export function oldDeclaration(where: string, method: object): OldDeclaration | null {
  const options: unknown = Reflect.getMetadata('SCHEDULE_CRON_OPTIONS', method);
  if (typeof options !== 'object' || options === null) return null;
  const { name, cronTime, disabled, initialDelay } = options as Record<string, unknown>;
  return {
    ...{ where, cronTime, disabled: disabled === true },
    name: typeof name === 'string' && name !== '' ? name : undefined,
    initialDelayMs: typeof initialDelay === 'number' ? Math.max(0, initialDelay) : 0,
  };
}

/**
 * Which method a job of the registry belongs to. One without a name is registered under a random one: the first with its
 * expression that no job belongs to yet.
 */
export function takeDeclaration(declared: OldDeclaration[], key: string, job: OldCronJob): OldDeclaration | null {
  const source = job.cronTime?.source;
  const named = declared.findIndex(({ name }) => name === key);
  const found =
    named >= 0 ? named : declared.findIndex(({ name, cronTime }) => name === undefined && cronTime === source);
  return declared.splice(found, found >= 0 ? 1 : 0)[0] ?? null;
}

/** @throws {Error} for a job that is no cron */
export function oldCron(name: string, { cronTime = {} }: OldCronJob): ShadowCron {
  const { source, timeZone, utcOffset, realDate } = cronTime;
  if (realDate === true || typeof source !== 'string') throw new Error('it runs once, at a date');
  if (typeof timeZone === 'string') return { name, expression: source, timeZone };
  const zone = typeof utcOffset === 'number' ? zoneOfOffset(utcOffset) : null;
  if (zone === null) throw new Error('its utcOffset is no whole number of hours from -12 to 14');
  return { name, expression: source, timeZone: zone };
}

/** Calls `note` before each tick, on every job there is and will be, and changes nothing else. */
export function hookRegistry(
  registry: OldRegistry,
  added: (key: string, job: OldCronJob) => ((kind: 'tick' | 'busy') => void) | null,
): void {
  const hook = (key: string, job: OldCronJob) => {
    const note = added(key, job);
    if (note === null) return;
    const fire = job.fireOnTick;
    job.fireOnTick = (...args) => {
      note(job.waitForCompletion === true && job.isCallbackRunning === true ? 'busy' : 'tick');
      return fire.apply(job, args);
    };
  };
  for (const [key, job] of registry.getCronJobs()) hook(key, job);
  const add = registry.addCronJob;
  registry.addCronJob = (key, job) => {
    add.call(registry, key, job);
    hook(key, job);
  };
}
