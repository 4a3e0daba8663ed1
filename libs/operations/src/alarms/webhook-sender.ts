import type { Clock } from '@fencepost/lease';
import type { CronPing } from '@fencepost/ledger/catalog';
import type { Telemetry } from '@fencepost/jobs';
import { asError, signatureHeaders, webhookName, type Message, type Webhook } from '@fencepost/jobs/internal';
import { call, type Call, type CallOptions } from './call.js';

export interface WebhookSenderDeps {
  readonly webhooks: readonly Webhook[];
  /** The addresses of a cron; `undefined` for one without. */
  readonly pingOf: (cron: string) => CronPing | undefined;
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
    const about = message.kind === 'ping' ? `ping.${message.on}` : message.type;
    const told = { cron: message.cron, about, messageId: message.id, to: new URL(wanted.url).host, attempt };
    try {
      await call(wanted, this.deps);
    } catch (error) {
      this.deps.telemetry.emit('webhook.failed', { ...told, err: asError(error), retryInMs });
      throw error;
    }
    this.deps.telemetry.emit('webhook.sent', told);
  }

  #callOf(message: Message): Call | null {
    if (message.kind === 'ping') {
      const url = this.deps.pingOf(message.cron)?.[message.on];
      return url === undefined ? null : { method: 'GET', url };
    }
    const webhook = this.deps.webhooks.find((known) => webhookName(known) === message.webhook);
    if (!webhook) return null;
    const { id, type, at: timestamp, data } = message;
    const body = JSON.stringify({ type, timestamp, data });
    const signed = signatureHeaders(webhook.secret, { id, at: this.deps.clock.now(), body });
    return { method: 'POST', url: webhook.url, body, headers: { 'content-type': 'application/json', ...signed } };
  }
}
