import { z } from 'zod';
import { CRON_NAME } from '@fencepost/ledger/run';
import { MESSAGE_TYPES, isWebhookSecret, type MessageType } from '../notifying/messages.js';
import { duration } from './handler-options.js';

/** A receiver of events, called as the Standard Webhooks specification says: signed, and at least once. */
export interface WebhookOptions {
  /** `http` or `https`. */
  readonly url: string;
  /** `whsec_` and the base64 of 24 to 64 random bytes, which the receiver has too; `[new, old]` while one replaces the other. */
  readonly secret: string | readonly string[];
  /** Default: `alarm.raised`, `alarm.cleared`, `run.failed` and `run.uncertain`; not `run.succeeded`. */
  readonly events?: readonly MessageType[];
  /** Of these crons alone; default: of all. */
  readonly crons?: readonly string[];
}

/** How crons are monitored, and how webhooks and pings are called. Durations are texts such as `'5s'`, or milliseconds. */
export interface AlarmOptions {
  /**
   * Hosts of your own network that webhooks and pings may call, such as `'alerts.internal'` or `'10.0.0.7:8080'`: any other
   * name or address that resolves to a private, loopback, link-local or reserved address is refused.
   */
  readonly allowHosts?: readonly string[];
  /** How long one call may take; default `'10s'`. */
  readonly timeout?: string | number;
  /** How often a pod looks at the crons it watches; default `'5s'`. */
  readonly lookEvery?: string | number;
}

const URL_TEXT = 'expected an address with http or https, such as "https://alerts.example/hooks"';
const SECRET = 'expected "whsec_" and the base64 of 24 to 64 bytes, or a list of two';
const EVENT = `expected one of ${MESSAGE_TYPES.map((type) => JSON.stringify(type)).join(', ')}`;
const CRON = 'expected the name of a cron';
const HOST = 'expected a host, or a host and a port, such as "alerts.internal" or "10.0.0.7:8080"';

const webhook = z.strictObject(
  {
    url: z.string(URL_TEXT).refine((text) => /^https?:\/\//.test(text) && URL.canParse(text), URL_TEXT),
    secret: z.custom<string | readonly string[]>(isWebhookSecret, SECRET),
    events: z
      .array(z.enum(MESSAGE_TYPES, EVENT), 'expected a list of events')
      .default(MESSAGE_TYPES.filter((type) => type !== 'run.succeeded')),
    crons: z.array(z.string(CRON).regex(CRON_NAME, CRON), 'expected a list of crons').optional(),
  },
  'expected an object such as { url, secret, events }',
);

/** Of the module's option `webhooks`. */
export const webhooksSchema = z
  .array(webhook, 'expected a list such as [{ url, secret, events }]')
  .max(20, 'expected at most 20')
  .default([]);

/** Of the module's option `alarms`. */
export const alarmsSchema = z
  .strictObject(
    {
      allowHosts: z.array(z.string(HOST).regex(/^[^\s/@?#]+$/, HOST), 'expected a list of hosts').default([]),
      timeout: duration('100ms', '1m').default(10_000),
      lookEvery: duration('100ms', '1h').default(5_000),
    },
    'expected an object such as { allowHosts: ["alerts.internal"] }',
  )
  .prefault({})
  .transform(({ timeout, lookEvery, allowHosts }) => ({ allowHosts, timeoutMs: timeout, lookEveryMs: lookEvery }));
