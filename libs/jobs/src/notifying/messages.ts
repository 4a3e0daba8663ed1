import { createHash, createHmac } from 'node:crypto';
import type { CronPing } from '@fencepost/ledger/catalog';
import type { Notification } from '@fencepost/ledger';
import type { AlarmChange } from '../telemetry/alarm.js';

/** The events that a webhook can receive. */
export type MessageType = 'alarm.raised' | 'alarm.cleared' | 'run.succeeded' | 'run.failed' | 'run.uncertain';

export const MESSAGE_TYPES = [
  'alarm.raised',
  'alarm.cleared',
  'run.succeeded',
  'run.failed',
  'run.uncertain',
] as const satisfies MessageType[];

/** The pings that a cron can have. */
export type PingOn = 'success' | 'failure' | 'missed' | 'uncertain';

/**
 * One message to one receiver. It holds no address and no secret, so a reader of the queue sees none: the sender looks them
 * up.
 */
export type Message = {
  /** Of the message, and the same however often it is put into the queue. */
  readonly id: string;
  readonly cron: string;
} & (
  | {
      readonly kind: 'webhook';
      /** Which webhook: see `webhookName`. */
      readonly webhook: string;
      readonly type: MessageType;
      /** ISO 8601. */
      readonly at: string;
      readonly data: Readonly<Record<string, unknown>>;
    }
  | { readonly kind: 'ping'; readonly on: PingOn }
);

/** Carries messages to the pod that sends them; each is retried until it is delivered or given up. */
export interface AlarmQueue {
  /** Takes all of them or rejects. The same message again changes nothing. */
  enqueue(messages: readonly Message[]): Promise<void>;
}

/** A receiver of events. */
export interface Webhook {
  readonly url: string;
  /** `whsec_` and base64, as Standard Webhooks has it; two while one replaces the other. */
  readonly secret: string | readonly string[];
  readonly events: readonly MessageType[];
  /** Of these crons alone; absent for all. */
  readonly crons?: readonly string[] | undefined;
}

/** What a message is about. */
export interface Happening {
  /** The same for the same event, whichever pod reports it. */
  readonly id: string;
  readonly cron: string;
  readonly type: MessageType;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly data: Readonly<Record<string, unknown>>;
}

/** What a message calls a webhook: of its address, which every pod has from the same settings. */
export function webhookName({ url }: Pick<Webhook, 'url'>): string {
  return createHash('sha256').update(url).digest('hex').slice(0, 12);
}

/** One message for each webhook that takes the event. */
export function webhookMessages(webhooks: readonly Webhook[], { id, cron, type, at, data }: Happening): Message[] {
  return webhooks
    .filter((hook) => hook.events.includes(type) && (hook.crons?.includes(cron) ?? true))
    .map((hook) => {
      const webhook = webhookName(hook);
      const about = { kind: 'webhook', webhook, type, cron, at: new Date(at).toISOString(), data } as const;
      return { ...about, id: messageId(id, type, webhook) };
    });
}

/** None for an address that the cron does not have. */
export function pingMessages(ping: CronPing | undefined, on: PingOn, about: PingAbout): Message[] {
  return ping?.[on] === undefined ? [] : [pingMessage(on, about)];
}

interface PingAbout {
  readonly cron: string;
  readonly id: string;
}

export function pingMessage(on: PingOn, { cron, id }: PingAbout): Message {
  return { kind: 'ping', on, cron, id: messageId(id, 'ping', on) };
}

/** The id of a state that a run came into: of its last one the run's own, because it comes once; it may be uncertain again. */
export function notifiedId({ runId, state, attempt }: Pick<Notification, 'runId' | 'state' | 'attempt'>): string {
  return state === 'uncertain' ? `${runId}/${attempt}` : runId;
}

/** Of an alarm. */
export function happeningOf({ id, cron, news, kind, since, text, runId }: AlarmChange, now: number): Happening {
  const type = news === 'raised' ? 'alarm.raised' : 'alarm.cleared';
  return { id, cron, type, at: now, data: { cron, kind, since: new Date(since).toISOString(), text, runId } };
}

/** Which address of a cron an alarm calls, and under which id: a run's is that of its notification too. */
export function pingOf({
  news,
  kind,
  id,
  runId,
  attempt,
  delayed,
}: AlarmChange): { readonly on: PingOn; readonly id: string } | null {
  if (news === 'cleared') return null;
  if (kind === 'missed' || kind === 'late') return { on: 'missed', id };
  // Under the id of its run it was dropped while its cron was muted, and the queue would not take it again.
  if (delayed) return { on: kind === 'uncertain' ? kind : 'failure', id };
  if (kind === 'failed') return { on: 'failure', id: runId ?? id };
  if (kind !== 'uncertain') return null;
  return { on: 'uncertain', id: runId === null ? id : notifiedId({ runId, state: kind, attempt: attempt ?? 0 }) };
}

/** Runs have colons and more in their ids, and receivers and queues have rules for theirs. */
function messageId(...parts: readonly string[]): string {
  return `msg_${createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32)}`;
}

const PREFIX = 'whsec_';

/** Between these many bytes a secret has, says Standard Webhooks. */
const [MIN_LENGTH, MAX_LENGTH] = [24, 64];

export interface Signed {
  readonly id: string;
  /** Epoch milliseconds of this try: a receiver refuses what is older than some minutes. */
  readonly at: number;
  readonly body: string;
}

/** Whether it is one secret, or a list of at most two. */
export function isWebhookSecret(secret: unknown): boolean {
  const all: unknown[] = [secret].flat();
  return all.length > 0 && all.length < 3 && all.every(isSecret);
}

/** `whsec_` and the base64 of 24 to 64 bytes. */
function isSecret(text: unknown): boolean {
  if (typeof text !== 'string' || !/^whsec_[A-Za-z0-9+/]+={0,2}$/.test(text)) return false;
  const { length } = keyOf(text);
  return length >= MIN_LENGTH && length <= MAX_LENGTH;
}

/**
 * The headers of a signed message, with a signature by each secret: a receiver takes it that knows one of them. Source: the
 * Standard Webhooks specification 1.0, symmetric signatures (`v1`).
 */
export function signatureHeaders(
  secret: Webhook['secret'],
  { id, at, body }: Signed,
): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(at / 1_000));
  const signatures = [secret].flat().map((one) => {
    const signature = createHmac('sha256', keyOf(one)).update(`${id}.${timestamp}.${body}`).digest('base64');
    return `v1,${signature}`;
  });
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') };
}

function keyOf(secret: string): Buffer {
  return Buffer.from(secret.slice(PREFIX.length), 'base64');
}
