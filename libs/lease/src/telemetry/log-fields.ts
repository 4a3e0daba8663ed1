import { hashResource, ownerPrefix } from '../base/identity.js';
import { resourceType } from '../base/resource.js';
import type { LeaseEvent } from './lease-events.js';

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
  reason: asIs('reason'),
  verdict: asIs('verdict'),
  advisedTtlMs: rounded('advised_ttl_ms'),
  heldMs: rounded('held_ms'),
  remainingMs: rounded('remaining_ms'),
  tookMs: rounded('took_ms'),
  ttlMs: rounded('ttl_ms'),
};

/** The fields of an event for a log, beside its sentence. */
export function logFields(event: LeaseEvent): Fields {
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
export interface Secrets {
  readonly resource: string;
  readonly holder: string;
}

/** A log line needs no more, and a server may quote everything it was sent. */
const MAX_TEXT_LENGTH = 300;

/** The random part of every holder and nonce. Knowing a whole one would be enough to pose as that holder. */
const UUID = /\b([0-9a-f]{8})(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi;

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
