import { createHmac } from 'node:crypto';

const PREFIX = 'whsec_';

/** Between these many bytes a secret has, says Standard Webhooks. */
const [MIN_LENGTH, MAX_LENGTH] = [24, 64];

export interface Signed {
  readonly id: string;
  /** Epoch milliseconds of this try: a receiver refuses what is older than some minutes. */
  readonly at: number;
  readonly body: string;
}

/** Whether it is `whsec_` and the base64 of 24 to 64 bytes. */
export function isWebhookSecret(text: string): boolean {
  if (!/^whsec_[A-Za-z0-9+/]+={0,2}$/.test(text)) return false;
  const { length } = keyOf(text);
  return length >= MIN_LENGTH && length <= MAX_LENGTH;
}

/** The headers of a signed message. Source: the Standard Webhooks specification 1.0, symmetric signatures (`v1`). */
export function signatureHeaders(secret: string, { id, at, body }: Signed): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(at / 1_000));
  const signature = createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` };
}

function keyOf(secret: string): Buffer {
  return Buffer.from(secret.slice(PREFIX.length), 'base64');
}
