import { hashResource, ownerPrefix } from '../base/identity.js';
import { resourceType } from '../base/resource.js';
import type { LeaseEvent } from './lease-events.js';
import { scrubbed, scrubbedError } from './scrubbed.js';
import type { Secrets } from './scrubbed.js';

type Fields = Readonly<Record<string, unknown>>;
type Show = (value: unknown, secrets: Secrets) => Fields;
type KeyOf<E> = E extends LeaseEvent ? Exclude<keyof E, 'name'> : never;

/**
 * How each key of an event is written. A list of what may be shown and not of what may not: a key that is new doesn't
 * compile until somebody has decided how it looks in a log.
 */
const SHOWN: Readonly<Record<KeyOf<LeaseEvent>, Show>> = {
  resource: (value) => ({ resource: hashResource(String(value)), resource_type: resourceType(String(value)) }),
  holder: (value) => ({ owner: ownerPrefix(String(value)) }),
  error: scrubbedError,
  because: text('because'),
  message: text('warning'),
  node: text('node'),
  downstream: text('downstream'),
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

/** What a log shows of an event, next to its sentence. */
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

function text(key: string): Show {
  return (value, secrets) => ({ [key]: scrubbed(String(value), secrets) });
}

/** To a microsecond: the clock's digits beyond it are noise. */
function rounded(key: string): Show {
  return (value) => ({ [key]: Math.round(Number(value) * 1_000) / 1_000 });
}
