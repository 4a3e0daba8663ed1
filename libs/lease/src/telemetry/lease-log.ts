import { systemClock } from '../base/clock.js';
import type { Clock } from '../base/clock.js';
import { throttled } from '../base/throttle.js';
import type { LeaseEvent, LeaseEventName, LeaseObserver } from './lease-events.js';
import { logFields } from './log-fields.js';

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
  'lease.extend-failed': ['warn', 'lease renewal failed; retried until the lease expires'],
  'lease.lost': ['warn', 'lease lost; the work it covered must stop'],
  'lease.released': ['info', 'lease released'],
  'lease.stale-release': ['warn', 'lease released after its term had ended; another holder may have acted'],
  'lease.release-failed': ['warn', 'lease release failed; the lease expires by itself'],
  'lease.ttl-unfit': ['warn', 'the TTL does not fit how long the resource is held'],
  'fence.rejected': ['warn', 'a downstream system refused a write because of its fence'],
  'node.health': ['warn', 'a node of the quorum was left out for a while, or is asked again'],
  'store.warning': ['warn', 'the store cannot guarantee what the leases need'],
};
