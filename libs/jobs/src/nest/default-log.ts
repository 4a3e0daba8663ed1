import { Inject, Injectable } from '@nestjs/common';
import type { OnApplicationBootstrap, OnApplicationShutdown, OnModuleInit } from '@nestjs/common';
import type { Clock } from '@fencepost/lease';
import { LeaseKeeper } from '@fencepost/lease/internal';
import { redisTargetOf, type RedisOption } from '@fencepost/lease/internal/options';
import { addressOf, redactUrl } from '@fencepost/lease/internal/redis';
import { CLOCK } from '@fencepost/lease/nest';
import { eventLevel } from '../telemetry/event-level.js';
import { EVENT_TEXT } from '../telemetry/event-text.js';
import type { EventLevel, EventName } from '../telemetry/events.js';
import { LineLimiter } from '../telemetry/line-limiter.js';
import { logLine, withLeftOut } from '../telemetry/log-line.js';
import { describeError } from '../telemetry/report-failure.js';
import { Telemetry, type EventListener } from '../telemetry/telemetry.js';
import { NestLogger, type NestLevel } from './nest-logger.js';
import type { JobsSettings } from './options.js';
import { PodRoles, type ChosenRoles, type RoleFacts } from './pod-roles.js';
import { CHOSEN_ROLES, JOBS_SETTINGS } from './tokens.js';

/**
 * Logged beside every event of level warn and error. Events of each run are left out: there may be thousands a second, and Nest's
 * logger shows `debug` by default.
 */
const ALSO: ReadonlyMap<EventName, NestLevel> = new Map([
  ['pod.started', 'log'],
  ['roles.disabled', 'log'],
  ['occurrence.claimed', 'debug'],
  ['run.cancelled', 'log'],
  ['cron.standstill', 'log'],
  ['cron.resumed', 'log'],
  // Every change of a definition is one line.
  ['catalog.created', 'log'],
  ['catalog.changed', 'log'],
  ['catalog.restored', 'log'],
  ['catalog.superseded', 'log'],
]);

const LOGGED: ReadonlySet<EventName> = new Set(
  (Object.keys(EVENT_TEXT) as EventName[]).filter((event) => ALSO.has(event) || isLoud(EVENT_TEXT[event][0])),
);

/** The fields that make up the subject of an event. */
const SUBJECT = ['cron', 'crons', 'operation', 'code', 'kind', 'about'];

/**
 * Logs to Nest's logger if the application logs no events itself: warnings and errors at a bounded rate; the start of the pod, and
 * runs cancelled by an operator, at LOG; claimed occurrences at DEBUG.
 * @returns a function that writes the lines held back, for the end of the process
 */
export function logByDefault(telemetry: Telemetry, clock: Clock): () => void {
  const logger = new NestLogger();
  const limiter = new LineLimiter({
    clock,
    write: (level, line, leftOut) => tryWrite(() => logger[level](withLeftOut(line, leftOut))),
  });
  const listener: EventListener = (event, detail) => {
    if (telemetry.isLogged) return;
    const level = eventLevel(event, detail);
    const nestLevel = isLoud(level) ? level : ALSO.get(event);
    if (nestLevel === undefined || !logger.isOn(nestLevel)) return;
    if (isLoud(level)) limiter.offer({ event, level, subject: subjectOf(detail) }, () => logLine(event, detail));
    else tryWrite(() => logger[nestLevel](logLine(event, detail)));
  };
  telemetry.replayEarly(listener);
  telemetry.listen(listener, LOGGED);
  return () => limiter.stop();
}

function isLoud(level: EventLevel): level is 'warn' | 'error' {
  return level === 'warn' || level === 'error';
}

function subjectOf(detail: object): string {
  return SUBJECT.map((field) => String(Reflect.get(detail, field) ?? '')).join(' ');
}

/** A timer writes the lines held back: an error thrown there would end the process. */
function tryWrite(write: () => void): void {
  try {
    write();
  } catch (error) {
    process.emitWarning(`The logger of the application failed: ${describeError(error)}`);
  }
}

/** Boot, warnings and failures go to the logger of the app, unless it logs all events itself or wants none. */
@Injectable()
export class DefaultLog implements OnModuleInit, OnApplicationBootstrap, OnApplicationShutdown {
  @Inject(Telemetry) private readonly telemetry!: Telemetry;
  @Inject(CLOCK) private readonly clock!: Clock;
  @Inject(JOBS_SETTINGS) private readonly settings!: JobsSettings;
  @Inject(CHOSEN_ROLES) private readonly chosen!: ChosenRoles;
  @Inject(PodRoles) private readonly begun!: PodRoles;
  @Inject(LeaseKeeper) private readonly keeper!: LeaseKeeper;

  #flush = () => {};

  onModuleInit(): void {
    if (this.settings.log) this.#flush = logByDefault(this.telemetry, this.clock);
    else this.telemetry.replayEarly(() => {});
    this.begun.whenAllBegun(this.chosen, (begun) => this.#tellStarted(begun.map((role) => role())));
  }

  onApplicationBootstrap(): void {
    const { roles, by } = this.chosen;
    if (roles.length === 0) this.telemetry.emit('roles.disabled', { by });
  }

  /** The last hook: errors of the shutdown have been logged, or are held back, by now. */
  onApplicationShutdown(): void {
    this.#flush();
  }

  #tellStarted(facts: readonly RoleFacts[]): void {
    const { redis, ledger } = this.settings;
    const handlers = facts.flatMap((one) => one.handlers ?? []);
    this.telemetry.emit('pod.started', {
      holder: this.keeper.holder,
      roles: this.chosen.roles.join('+'),
      redis: shownRedis(redis),
      ledger,
      crons: handlers.length,
      names: handlers.slice(0, MAX_NAMED),
    });
  }
}

/** Names of crons in one line. */
const MAX_NAMED = 10;

function shownRedis(redis: RedisOption): string {
  const target = redisTargetOf(redis);
  if ('url' in target) return redactUrl(target.url);
  if ('factory' in target) return 'a connection of yours';
  return 'instance' in target ? addressOf(target) : 'sentinel' in target ? 'sentinel' : 'cluster';
}
