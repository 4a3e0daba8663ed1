import type { Catalog } from '@fencepost/ledger/catalog';
import { FencepostError } from '@fencepost/lease';
import { webhookName, type Webhook } from '@fencepost/jobs/internal';
import { PINGS, type Delivery, type DeliveryLog } from './delivery-log.js';
import type { WebhookSender } from './webhook-sender.js';

/** There is no receiver of this id. */
class UnknownReceiverError extends FencepostError {
  readonly code = 'RECEIVER_UNKNOWN';

  constructor(id: string) {
    super(`Expected the id of a receiver, got "${id}". GET /api/receivers lists them.`);
  }
}

/** Who hears of what. Its address may hold a secret, so only the beginning is told. */
export interface Receiver {
  readonly id: string;
  readonly kind: 'webhook' | 'pings';
  /** Such as `https://alerts.example`; `null` for the pings, each of which has its own. */
  readonly to: string | null;
  readonly events: Webhook['events'];
  /** The first {@link MAX_NAMED}; `null`: of all crons. */
  readonly crons: readonly string[] | null;
  /** How many more than those. */
  readonly moreCrons: number;
  /** Secrets that are valid now; two while one replaces the other. */
  readonly secrets: number;
  readonly deliveries: readonly Delivery[];
}

/** Thousands of crons may have a ping. */
const MAX_NAMED = 100;

export interface ReceiversDeps {
  readonly webhooks: readonly Webhook[];
  readonly catalog: Pick<Catalog, 'read'>;
  readonly deliveries: Pick<DeliveryLog, 'of'>;
  readonly sender: Pick<WebhookSender, 'test'>;
}

/** Webhooks, and the pings of crons, as people look at them and try them. */
export class Receivers {
  constructor(private readonly deps: ReceiversDeps) {}

  /** @param cron only those that hear of this cron */
  async list(cron?: string): Promise<readonly Receiver[]> {
    const { webhooks, deliveries } = this.deps;
    const hooks = webhooks.filter(({ crons }) => cron === undefined || (crons?.includes(cron) ?? true));
    const shown = hooks.map(async (hook): Promise<Receiver> => {
      const id = webhookName(hook);
      const { events, crons = null } = hook;
      const secrets = [hook.secret].flat().length;
      return {
        id,
        kind: 'webhook',
        to: new URL(hook.url).origin,
        events,
        ...named(crons),
        secrets,
        deliveries: await deliveries.of(id),
      };
    });
    return [...(await Promise.all(shown)), ...(await this.#pings(cron))];
  }

  /** Sends a signed message that is about nothing. What became of it is the answer, not an error. */
  async test(id: string): Promise<Delivery> {
    const webhook = this.deps.webhooks.find((known) => webhookName(known) === id);
    if (!webhook) throw new UnknownReceiverError(id);
    return this.deps.sender.test(webhook);
  }

  async #pings(cron?: string): Promise<readonly Receiver[]> {
    const { entries } = await this.deps.catalog.read();
    const pinged = entries.flatMap(({ definition: { name, ping } }) => (ping && name === (cron ?? name) ? [name] : []));
    if (pinged.length === 0) return [];
    const deliveries = (await this.deps.deliveries.of(PINGS)).filter((one) => one.cron === (cron ?? one.cron));
    return [{ id: PINGS, kind: 'pings', to: null, events: [], ...named(pinged), secrets: 0, deliveries }];
  }
}

function named(crons: readonly string[] | null): Pick<Receiver, 'crons' | 'moreCrons'> {
  return { crons: crons?.slice(0, MAX_NAMED) ?? null, moreCrons: Math.max(0, (crons?.length ?? 0) - MAX_NAMED) };
}
