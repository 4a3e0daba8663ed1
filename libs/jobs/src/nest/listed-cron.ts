import type { DiscoveryService } from '@nestjs/core';
import { FencepostError, type Clock } from '@fencepost/lease';
import type { CronDefinition } from '@fencepost/ledger/catalog';
import { isManual, parseSchedule, type CronSchedule } from '@fencepost/schedule';
import type { Events } from '../telemetry/events.js';
import type { EventListener, Telemetry } from '../telemetry/telemetry.js';
import type { FoundCron } from './cron-explorer.js';
import { registryOf, type OldCronJob, type OldRegistry } from './schedule-registry.js';

/** A `CronJob` of `SchedulerRegistry` was asked for something that no single process decides or knows. */
export class ListedCronError extends FencepostError {
  readonly code = 'LISTED_CRON';

  constructor(
    readonly cron: string,
    asked: string,
    instead: string,
  ) {
    super(
      `"${cron}" is a cron of Fencepost and belongs to all pods: its CronJob in SchedulerRegistry has no ${asked}. ` +
        `${instead} of @fencepost/operations.`,
    );
  }
}

/** As much of luxon's `DateTime` as it takes to show and to compare an instant; luxon is no dependency. */
interface ListedInstant {
  toJSDate(): Date;
  toMillis(): number;
  toISO(): string;
  toJSON(): string;
  valueOf(): number;
}

function instantAt(at: number): ListedInstant {
  const toISO = () => new Date(at).toISOString();
  return { toJSDate: () => new Date(at), toMillis: () => at, toISO, toJSON: toISO, valueOf: () => at };
}

/**
 * A declared cron as a `CronJob`: what its declaration says, and what this process did. Whatever all pods share, a pause, a change
 * or a run elsewhere, is refused instead of guessed.
 */
class ListedCron implements OldCronJob {
  /** When this process last began a run. */
  lastExecution: Date | null = null;
  readonly name: string;
  readonly cronTime: NonNullable<OldCronJob['cronTime']>;
  readonly #schedule: CronSchedule;

  constructor(
    definition: CronDefinition,
    private readonly clock: Clock,
  ) {
    const { name, expression, timeZone } = definition;
    this.name = name;
    this.cronTime = { source: expression, timeZone, realDate: false };
    this.#schedule = parseSchedule({ ...definition, seed: name }, clock.now());
  }

  nextDate(): ListedInstant | null {
    return this.nextDates(1)[0] ?? null;
  }

  nextDates(count = 1): ListedInstant[] {
    const { spreadMs } = this.#schedule;
    const found: ListedInstant[] = [];
    // An instant that is put off is still to come when its nominal time has passed.
    let at = this.#schedule.next(this.clock.now() - spreadMs);
    for (; at !== null && found.length < count; at = this.#schedule.next(at)) found.push(instantAt(at + spreadMs));
    return found;
  }

  lastDate(): Date | null {
    return this.lastExecution;
  }

  get isActive(): boolean {
    throw this.#refusal('isActive', 'Ask CronOperator.list()');
  }

  get isCallbackRunning(): boolean {
    throw this.#refusal('isCallbackRunning', 'Ask RunOperator.latest()');
  }

  start(): never {
    throw this.#refusal('start()', 'Resume it with CronOperator.resume()');
  }

  stop(): never {
    throw this.#refusal('stop()', 'Pause it with CronOperator.pause()');
  }

  setTime(): never {
    throw this.#refusal('setTime()', 'Change it with CronCatalog.set()');
  }

  addCallback(): never {
    throw this.#refusal('addCallback()', 'Make another cron with CronCatalog.set()');
  }

  fireOnTick(): never {
    throw this.#refusal('fireOnTick()', 'Run it now with CronOperator.trigger()');
  }

  #refusal(asked: string, instead: string): ListedCronError {
    return new ListedCronError(this.name, asked, instead);
  }
}

interface ListingParts {
  readonly discovery: DiscoveryService;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
}

/** The crons of this process in the `SchedulerRegistry` of `@nestjs/schedule`. */
export class CronListing {
  readonly #listed = new Map<string, ListedCron>();
  readonly #deafen: () => void;

  private constructor(
    private readonly registry: OldRegistry,
    private readonly parts: ListingParts,
  ) {
    giveWay(registry);
    this.#deafen = noteBegun(this.#listed, parts);
  }

  /** `null` where `@nestjs/schedule` is not imported. */
  static in(parts: ListingParts): CronListing | null {
    const registry = registryOf(parts.discovery);
    return registry && new CronListing(registry, parts);
  }

  /** Lists those that are not listed yet, and whose names no job of theirs has. */
  add(crons: Iterable<FoundCron>): void {
    const jobs = this.registry.getCronJobs();
    for (const { declaration } of crons) {
      const { name, expression } = declaration.definition;
      if (isManual(expression) || jobs.has(name)) continue;
      const cron = new ListedCron(declaration.definition, this.parts.clock);
      this.#listed.set(name, cron);
      jobs.set(name, cron);
    }
  }

  /** Has to come before `@nestjs/schedule` stops all that is listed. */
  stop(): void {
    this.#deafen();
    const jobs = this.registry.getCronJobs();
    for (const [name, cron] of this.#listed) if (jobs.get(name) === cron) jobs.delete(name);
  }
}

/** A job of theirs with the same name takes the place: listing ours must not keep an application from starting. */
function giveWay(registry: OldRegistry): void {
  const add = registry.addCronJob;
  registry.addCronJob = (name, job) => {
    const jobs = registry.getCronJobs();
    if (jobs.get(name) instanceof ListedCron) jobs.delete(name);
    add.call(registry, name, job);
  };
}

function noteBegun(listed: ReadonlyMap<string, ListedCron>, { clock, telemetry }: ListingParts): () => void {
  const hear: EventListener = (_event, detail) => {
    const cron = listed.get((detail as Events['attempt.begun']).cron);
    if (cron) cron.lastExecution = new Date(clock.now());
  };
  return telemetry.listen(hear, new Set(['attempt.begun']));
}
