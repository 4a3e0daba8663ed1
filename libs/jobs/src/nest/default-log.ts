import { Inject, Injectable, Logger } from '@nestjs/common';
import type { OnModuleInit } from '@nestjs/common';
import type { Clock } from '@fencepost/lease';
import { LeaseKeeper } from '@fencepost/lease/internal';
import { redisTargetOf, type RedisOption } from '@fencepost/lease/internal/options';
import { addressOf, redactUrl } from '@fencepost/lease/internal/redis';
import { CLOCK } from '@fencepost/lease/nest';
import { EVENT_TEXT, type EventName, type Events } from '../telemetry/events.js';
import { lineWriter } from '../telemetry/log-events.js';
import { Telemetry, type EventListener } from '../telemetry/telemetry.js';
import type { JobsSettings, Role } from './options.js';
import { PodRoles, type RoleFacts } from './pod-roles.js';
import { JOBS_SETTINGS, ROLES } from './tokens.js';

/** The names that Nest has for levels. */
type PlainLevel = 'error' | 'warn' | 'log' | 'debug';

const LEVELS = ['error', 'warn', 'log', 'debug'] as const satisfies readonly PlainLevel[];

/**
 * Logged beside every event of level error. Not what comes with each run of a job: there may be thousands a second, and Nest's own
 * logger shows `debug` unless it is told otherwise.
 */
const ALSO = {
  'pod.started': 'log',
  'occurrence.claimed': 'debug',
  'attempt.failed': 'warn',
  'run.cancelled': 'log',
  'worker.empty': 'warn',
  'worker.unprovided': 'warn',
  'shutdown.unhooked': 'warn',
  'alarms.unwatched': 'warn',
} as const satisfies Partial<Record<EventName, PlainLevel>>;

const ERRORS = (Object.keys(EVENT_TEXT) as EventName[]).filter((name) => EVENT_TEXT[name][0] === 'error');

const LEVEL_OF: ReadonlyMap<EventName, PlainLevel> = new Map([
  ...ERRORS.map((name) => [name, 'error'] as const),
  ...(Object.entries(ALSO) as [EventName, PlainLevel][]),
]);

const logger = new Logger('Fencepost');

/**
 * Logs if the application logs no events itself: that the pod started, and a run that an operator cancelled, at LOG; a run that
 * failed for good and every other error at ERROR; an attempt that is retried and likely mistakes at WARN; claimed occurrences at DEBUG.
 */
function logByDefault(telemetry: Telemetry, clock: Clock): void {
  const writers = new Map(LEVELS.map((level) => [level, writerAt(level, clock)]));
  telemetry.listen((name, detail) => {
    if (telemetry.isLogged) return;
    const isOver = name === 'attempt.failed' && (detail as Events['attempt.failed']).state === 'failed';
    const level = isOver ? 'error' : LEVEL_OF.get(name);
    if (level !== undefined) writers.get(level)?.(name, detail);
  }, new Set(LEVEL_OF.keys()));
}

/** Writes at this level, whatever the event has for its own. */
function writerAt(level: PlainLevel, clock: Clock): EventListener {
  const write = (detail: Record<string, unknown>, sentence: string) => logger[level](lineOf(detail, sentence));
  // With `logger: false` there is no instance. Nest 11 says no to every level, `fatal` too, until an application names its levels,
  // and logs all the same.
  const isLevelEnabled = () =>
    logger.localInstance !== undefined && (Logger.isLevelEnabled(level) || !Logger.isLevelEnabled('fatal'));
  return lineWriter({ error: write, warn: write, info: write, debug: write, isLevelEnabled }, clock);
}

/** `attempt failed: Error: refused (attempt_failed, cron nightly, runId nightly@1, …)`, and the stack below. */
function lineOf({ event, err, resource: _, ...fields }: Record<string, unknown>, sentence: string): string {
  const said = Object.entries(fields).map(([name, value]) => `${name} ${textOf(value)}`);
  const { type, message, stack } = Object(err) as { type?: unknown; message?: unknown; stack?: unknown };
  const what = typeof message === 'string' ? `${sentence}: ${textOf(type)}: ${message}` : sentence;
  return `${what} (${[textOf(event), ...said].join(', ')})${framesOf(stack)}`;
}

/** Without the name and the message that a stack begins with. */
function framesOf(stack: unknown): string {
  const at = typeof stack === 'string' ? stack.indexOf('\n    at ') : -1;
  return at < 0 ? '' : (stack as string).slice(at);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? 'undefined');
}

/** Boot and failures go to the logger of the app, unless it logs all events itself or wants none. */
@Injectable()
export class DefaultLog implements OnModuleInit {
  @Inject(Telemetry) private readonly telemetry!: Telemetry;
  @Inject(CLOCK) private readonly clock!: Clock;
  @Inject(JOBS_SETTINGS) private readonly settings!: JobsSettings;
  @Inject(ROLES) private readonly roles!: readonly Role[];
  @Inject(PodRoles) private readonly begun!: PodRoles;
  @Inject(LeaseKeeper) private readonly keeper!: LeaseKeeper;

  onModuleInit(): void {
    if (this.settings.log) logByDefault(this.telemetry, this.clock);
    const facts: RoleFacts[] = [];
    this.begun.listen((role) => {
      if (facts.push(role()) === this.roles.length) this.#tellStarted(facts);
    });
  }

  #tellStarted(facts: readonly RoleFacts[]): void {
    const { redis, ledger } = this.settings;
    const handlers = facts.flatMap((one) => one.handlers ?? []);
    this.telemetry.emit('pod.started', {
      holder: this.keeper.holder,
      roles: this.roles.join('+'),
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
