import { systemClock } from '../base/clock.js';
import type { Clock } from '../base/clock.js';
import { throttled } from '../base/throttle.js';
import type { LeaseEvent, LeaseEventName, LeaseObserver } from './lease-events.js';
import { logFields } from './log-fields.js';

/** A logger that takes an object and a sentence, as pino does. */
export type LeaseLogger = Readonly<Record<LogLevel, (detail: Record<string, unknown>, sentence: string) => void>> & {
  /** If there is one, lines nobody would see aren't put together. */
  readonly isLevelEnabled?: (level: LogLevel) => boolean;
};

export interface LeaseLogOptions {
  /** Instead of the level an event usually has; `silent` leaves it out. */
  readonly levels?: Readonly<Partial<Record<LeaseEventName, LogLevel | 'silent'>>>;
  readonly clock?: Clock;
}

/** A store that is away fails for every lease and every try; it is told once in this time, with how often. */
const TROUBLE_WINDOW_MS = 5_000;

/**
 * Writes each event as one line: `event`, a hash of the resource, its type, the beginning of its owner, fence, ttl and
 * whatever else the event has, next to a sentence. Neither a resource nor an owner is ever written in full, and of an
 * error only its name, its code and its message without what it quotes: whoever reads logs isn't whoever may act.
 */
export function leaseLog(logger: LeaseLogger, options: LeaseLogOptions = {}): LeaseObserver {
  const { levels = {}, clock = systemClock } = options;
  const throttles = new Map<LeaseEventName, Write>();
  return (event) => {
    const [usual, sentence] = LOG_LINES[event.name];
    const level = levels[event.name] ?? usual;
    if (level === 'silent' || logger.isLevelEnabled?.(level) === false) return;
    const write: Write = (told, said) => logger[level](logFields(told), said);
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

/** How loud an event is, and what it says in one sentence. */
type Line = readonly [level: LogLevel, sentence: string];

/**
 * Every event, or it doesn't compile. What an operator should look at is `warn`: somebody may have acted who had no right
 * to, or was kept from it.
 */
export const LOG_LINES: Readonly<Record<LeaseEventName, Line>> = {
  'lease.acquired': ['info', 'the lease is ours'],
  'lease.busy': ['debug', 'somebody else holds the lease'],
  'lease.acquire-failed': ['warn', 'the store could not be asked for the lease'],
  'lease.extended': ['debug', 'the lease was renewed'],
  'lease.extend-failed': ['warn', 'the lease could not be renewed; tried again until it has to be given up'],
  'lease.lost': ['warn', 'the lease is lost; the work it covered has to stop'],
  'lease.released': ['info', 'the lease was given back'],
  'lease.stale-release': ['warn', 'the lease was over before it was given back; somebody else may have acted'],
  'lease.release-failed': ['warn', 'the lease could not be given back; it ends by itself'],
  'lease.ttl-unfit': ['warn', 'the ttl does not fit how long the resource is held'],
  'fence.rejected': ['warn', 'a write was refused because of its fence'],
  'node.health': ['warn', 'a node of the quorum is left out for a while, or asked again'],
  'store.warning': ['warn', 'the store can not promise what is expected of it'],
};
