import { systemClock, throttled } from '../base/clock.js';
import type { Clock } from '../base/clock.js';
import type { LeaseEvent, LeaseEventName, LeaseObserver } from './lease-events.js';
import { hashResource, ownerPrefix } from '../base/identity.js';
import { resourceType } from '../base/resource.js';

/** A logger that takes an object and a sentence, as pino does. */
export type LeaseLogger = Readonly<Record<LogLevel, (detail: Record<string, unknown>, sentence: string) => void>> & {
  /** If present, lines below the level aren't built. */
  readonly isLevelEnabled?: (level: LogLevel) => boolean;
};

export interface LeaseLogOptions {
  /** Instead of the level an event usually has; `silent` leaves it out. */
  readonly levels?: Readonly<Partial<Record<LeaseEventName, LogLevel | 'silent'>>>;
  readonly clock?: Clock;
}

/** A store that is away fails for every lease and every try; it is logged once per window, with a count. */
const TROUBLE_WINDOW_MS = 5_000;

/**
 * Writes each event as one line: `event`, a hash of the resource, its type, the beginning of its owner, fence, ttl and
 * whatever else the event has, next to a sentence. Neither a resource nor an owner is ever written in full, and of an
 * error only its name, its code and its message without what it quotes: readers of logs must not be able to act as a holder.
 */
export function leaseLog(logger: LeaseLogger, options: LeaseLogOptions = {}): LeaseObserver {
  const { levels = {}, clock = systemClock } = options;
  const throttles = new Map<LeaseEventName, Write>();
  return (event) => {
    const [usual, sentence] = LOG_LINES[event.name];
    const level = levels[event.name] ?? usual;
    if (level === 'silent' || logger.isLevelEnabled?.(level) === false) return;
    const write: Write = (latest, text) => logger[level](logFields(latest), text);
    if (!('error' in event)) return write(event, sentence);
    const held = throttles.get(event.name) ?? throttledWrite(write, clock);
    throttles.set(event.name, held);
    held(event, sentence);
  };
}

type Write = (event: LeaseEvent, sentence: string) => void;

function throttledWrite(write: Write, clock: Clock): Write {
  let latest: LeaseEvent;
  const tell = throttled((sentence) => write(latest, sentence), { clock, windowMs: TROUBLE_WINDOW_MS });
  return (event, sentence) => {
    latest = event;
    tell(sentence);
  };
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** The level of an event and its sentence. */
type Line = readonly [level: LogLevel, sentence: string];

/**
 * Every event, or it doesn't compile. An event is `warn` if an operator should look at it: a process may have acted
 * without the right to, or was refused.
 */
export const LOG_LINES: Readonly<Record<LeaseEventName, Line>> = {
  'lease.acquired': ['info', 'lease acquired'],
  'lease.busy': ['debug', 'another holder has the lease'],
  'lease.acquire-failed': ['warn', 'lease could not be requested: the store did not answer'],
  'lease.extended': ['debug', 'lease renewed'],
  'lease.ttl-changed': ['info', 'lease has another TTL'],
  'lease.extend-failed': ['warn', 'lease renewal failed; retried until the lease expires'],
  'session.extended': ['debug', 'session renewed, and its leases with it'],
  'session.extend-failed': ['warn', 'session renewal failed; retried until the session expires'],
  'lease.lost': ['warn', 'lease lost; the work it covered must stop'],
  'lease.released': ['info', 'lease released'],
  'lease.stale-release': ['warn', 'lease released after its term had ended; another holder may have acted'],
  'lease.release-failed': ['warn', 'lease release failed; the lease expires by itself'],
  'lease.ttl-unfit': ['warn', 'the TTL does not fit how long the resource is held'],
  'fence.rejected': ['warn', 'a downstream system refused a write because of its fence'],
  'node.health': ['warn', 'a node of the quorum was left out for a while, or is asked again'],
  'store.warning': ['warn', 'the store cannot guarantee what the leases need'],
};

type Fields = Readonly<Record<string, unknown>>;
type Show = (value: unknown, secrets: Secrets) => Fields;
type KeyOf<E> = E extends LeaseEvent ? Exclude<keyof E, 'name'> : never;

/**
 * How each key of an event is written. A list of what may be shown and not of what may not: a key that is new doesn't
 * compile until its form in a log is decided here.
 */
const SHOWN: Readonly<Record<KeyOf<LeaseEvent>, Show>> = {
  resource: (value) => ({ resource: hashResource(String(value)), resource_type: resourceType(String(value)) }),
  holder: (value) => ({ owner: ownerPrefix(String(value)) }),
  error: scrubbedError,
  because: textual('because'),
  message: textual('warning'),
  node: textual('node'),
  downstream: textual('downstream'),
  code: asIs('code'),
  fence: asIs('fence'),
  healthy: asIs('healthy'),
  leases: asIs('leases'),
  underSession: asIs('under_session'),
  reason: asIs('reason'),
  verdict: asIs('verdict'),
  advisedTtlMs: rounded('advised_ttl_ms'),
  heldMs: rounded('held_ms'),
  maxHoldMs: rounded('max_hold_ms'),
  remainingMs: rounded('remaining_ms'),
  tookMs: rounded('took_ms'),
  ttlMs: rounded('ttl_ms'),
};

/** The fields of an event for a log, beside its sentence. */
function logFields(event: LeaseEvent): Fields {
  const { name, ...detail } = event;
  const holder = 'holder' in event ? event.holder : '';
  const resource = 'resource' in event ? event.resource : '';
  const fields: Record<string, unknown> = { event: name.replaceAll(/[.-]/g, '_') };
  const shows: Readonly<Partial<Record<string, Show>>> = SHOWN;
  for (const [key, value] of Object.entries(detail)) Object.assign(fields, shows[key]?.(value, { holder, resource }));
  return fields;
}

function asIs(key: string): Show {
  return (value) => ({ [key]: value });
}

function textual(key: string): Show {
  return (value, secrets) => ({ [key]: scrubbed(String(value), secrets) });
}

/** To a microsecond: the clock's digits beyond it are noise. */
function rounded(key: string): Show {
  return (value) => ({ [key]: Math.round(Number(value) * 1_000) / 1_000 });
}

/** Values of the event that an error message may contain by chance; empty if there are none. */
interface Secrets {
  readonly resource: string;
  readonly holder: string;
}

/** A log line needs no more, and a server may quote everything it was sent. */
const MAX_TEXT_LENGTH = 300;

/** The random part of every holder and nonce. Knowing a whole one would be enough to pose as that holder. */
/** And the random parts of identities, which lack the middle of one. */
const UUID = /\b([0-9a-f]{8})(-[0-9a-f]{4}){0,3}-[0-9a-f]{12}\b/gi;

/**
 * A sentence from another library as a log may show it: without what it may quote. Our own errors name the resource,
 * a key contains it, Redis repeats the arguments of a command it doesn't know, drivers name the address they were given,
 * password included.
 */
export function scrubbed(text: string, { resource, holder }: Secrets): string {
  const clean = text
    .replace(/,? with args beginning with:.*$/s, '')
    .replace(/([a-z][a-z0-9+.-]*:\/\/)\S*@/gi, '$1***@')
    .replace(/(:\/\/[^\s?]*)\?\S*/g, '$1')
    .replace(UUID, '$1');
  return replaced(replaced(clean, resource, hashResource), holder, ownerPrefix).slice(0, MAX_TEXT_LENGTH);
}

/** The same for an error: name, code and message. Not the object: ioredis adds the arguments of the command. */
export function scrubbedError(error: unknown, secrets: Secrets): Readonly<Record<string, string>> {
  if (!(error instanceof Error)) return { error_name: typeof error };
  const { name, message } = error;
  const code = 'code' in error && typeof error.code === 'string' ? { error_code: error.code } : {};
  return { error_name: name, ...code, error_message: scrubbed(message, secrets) };
}

function replaced(text: string, secret: string, shown: (secret: string) => string): string {
  return secret === '' ? text : text.replaceAll(secret, () => shown(secret));
}
