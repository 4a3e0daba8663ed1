import { randomUUID } from 'node:crypto';
import type { Clock } from '@fencepost/lease';
import type { CronDefinition } from '@fencepost/ledger/catalog';
import type { Telemetry } from '@fencepost/jobs';
import {
  asError,
  describeError,
  reportStoreFailure,
  signatureHeaders,
  webhookName,
  type Message,
  type Webhook,
} from '@fencepost/jobs/internal';
import { call, CallError, type Call, type CallOptions } from './call.js';
import { PINGS, type Delivery, type DeliveryLog } from './delivery-log.js';
import { muteOf, type Mutes } from './mutes.js';

export interface WebhookSenderDeps {
  readonly webhooks: readonly Webhook[];
  /** `undefined` for a cron that does not exist any more. */
  readonly definitionOf: (cron: string) => CronDefinition | undefined;
  readonly mutes: Pick<Mutes, 'list'>;
  readonly deliveries: Pick<DeliveryLog, 'add'>;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly timeoutMs: number;
  readonly allowHosts: CallOptions['allowHosts'];
}

/** One try of a message. */
export interface WebhookDelivery {
  readonly message: Message;
  /** From 1. */
  readonly attempt: number;
  /** When it is tried again if this one fails; `null`: not any more. */
  readonly retryInMs: number | null;
}

/** What a try is about, and to which of the receivers it goes. */
type Try = Pick<Delivery, 'messageId' | 'about' | 'cron' | 'attempt'> & { readonly receiver: string };

/** Takes messages to their receivers. */
export class WebhookSender {
  constructor(private readonly deps: WebhookSenderDeps) {}

  /**
   * Resolves for what was delivered, and for what nobody wants any more.
   * @throws {CallError} for what is to be tried again
   */
  async deliver({ message, attempt, retryInMs }: WebhookDelivery): Promise<void> {
    const wanted = this.#callOf(message);
    // Its webhook is in no settings any more, or the cron has another definition: there is nobody to tell.
    if (wanted === null) return;
    const { id: messageId, cron } = message;
    const about = message.kind === 'ping' ? `ping.${message.on}` : message.type;
    const tried: Try = { messageId, about, cron, attempt, receiver: receiverOf(message) };
    if (isMutable(message) && (await this.#isMuted(cron))) return void (await this.#log(tried, { outcome: 'muted' }));
    const { error } = await this.#send(wanted, tried);
    const told = { cron, about, messageId, to: new URL(wanted.url).host, attempt };
    if (error === null) return this.deps.telemetry.emit('webhook.sent', told);
    this.deps.telemetry.emit('webhook.failed', { ...told, err: asError(error), retryInMs });
    throw error;
  }

  /** One try, whatever comes of it: who asks for it looks at what became of it. */
  async test(webhook: Webhook): Promise<Delivery> {
    const [id, about] = [`msg_test_${randomUUID()}`, 'webhook.test'];
    const data = { text: 'A test of this receiver. Nothing is wrong.' };
    const body = JSON.stringify({ type: about, timestamp: new Date(this.deps.clock.now()).toISOString(), data });
    const tried: Try = { messageId: id, about, cron: null, attempt: 1, receiver: webhookName(webhook) };
    return (await this.#send(this.#signed(webhook, id, body), tried)).delivery;
  }

  async #send(wanted: Call, tried: Try): Promise<{ readonly delivery: Delivery; readonly error: Error | null }> {
    const { clock } = this.deps;
    const began = clock.monotonic();
    const tookMs = () => Math.round(clock.monotonic() - began);
    try {
      const status = await call(wanted, this.deps);
      return { delivery: await this.#log(tried, { outcome: 'delivered', status, tookMs: tookMs() }), error: null };
    } catch (thrown) {
      const error = asError(thrown);
      const status = error instanceof CallError ? error.status : null;
      const ended = { outcome: 'failed', status, tookMs: tookMs(), error: describeError(error) } as const;
      return { delivery: await this.#log(tried, ended), error };
    }
  }

  /** A log that can't be written holds up no message. */
  async #log({ receiver, ...tried }: Try, ended: Partial<Delivery> & Pick<Delivery, 'outcome'>): Promise<Delivery> {
    const at = new Date(this.deps.clock.now()).toISOString();
    const delivery: Delivery = { at, ...tried, status: null, tookMs: 0, error: null, ...ended };
    try {
      await this.deps.deliveries.add(receiver, delivery);
    } catch (error) {
      reportStoreFailure(this.deps.telemetry, { operation: 'message.send' }, error);
    }
    return delivery;
  }

  async #isMuted(cron: string): Promise<boolean> {
    const definition = this.deps.definitionOf(cron) ?? { name: cron };
    return muteOf(await this.deps.mutes.list(), definition) !== null;
  }

  #callOf(message: Message): Call | null {
    if (message.kind === 'ping') {
      const url = this.deps.definitionOf(message.cron)?.ping?.[message.on];
      return url === undefined ? null : { method: 'GET', url };
    }
    const webhook = this.deps.webhooks.find((known) => webhookName(known) === message.webhook);
    if (!webhook) return null;
    const { id, type, at: timestamp, data } = message;
    const told = withSaid(data, this.deps.definitionOf(message.cron));
    return this.#signed(webhook, id, JSON.stringify({ type, timestamp, data: told }));
  }

  #signed({ url, secret }: Webhook, id: string, body: string): Call {
    const signed = signatureHeaders(secret, { id, at: this.deps.clock.now(), body });
    return { method: 'POST', url, body, headers: { 'content-type': 'application/json', ...signed } };
  }
}

type Data = Readonly<Record<string, unknown>>;

/**
 * What the cron says of itself to people, as it says it now: whoever is woken has to know whom to ask and what to do. In the
 * sentence of an alarm too, because a chat shows nothing else.
 */
function withSaid(data: Data, { description, owner, runbookUrl }: Partial<CronDefinition> = {}): Data {
  const lines = [...(owner ? [`Owner: ${owner}.`] : []), ...(runbookUrl ? [`Runbook: ${runbookUrl}`] : [])];
  const { text } = data;
  return {
    ...data,
    ...(typeof text === 'string' && { text: [text, ...lines].join(' ') }),
    ...(description !== undefined && { description }),
    ...(owner !== undefined && { owner }),
    ...(runbookUrl !== undefined && { runbookUrl }),
  };
}

function receiverOf(message: Message): string {
  return message.kind === 'ping' ? PINGS : message.webhook;
}

/**
 * Whether a mute stops it: what a failed or uncertain run tells. An alarm was held back where it was raised, and goes out after
 * the mute; a success is awaited by whoever would raise an alarm without it.
 */
function isMutable(message: Message): boolean {
  if (message.kind === 'ping') return message.on === 'failure' || message.on === 'uncertain';
  return message.type === 'run.failed' || message.type === 'run.uncertain';
}
