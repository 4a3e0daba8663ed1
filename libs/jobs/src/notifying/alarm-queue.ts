/** What somebody outside may be told of. */
export type MessageType = 'alarm.raised' | 'alarm.cleared' | 'run.succeeded' | 'run.failed' | 'run.uncertain';

export const MESSAGE_TYPES = [
  'alarm.raised',
  'alarm.cleared',
  'run.succeeded',
  'run.failed',
  'run.uncertain',
] as const satisfies MessageType[];

/** The addresses a cron may have. */
export type PingOn = 'success' | 'failure' | 'missed' | 'uncertain';

/**
 * One message to one receiver. It holds no address and no secret: whoever sends it looks them up, and who looks at the queue
 * sees none.
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

/** Carries messages to whoever sends them; tried again until they are delivered or given up. */
export interface AlarmQueue {
  /** Takes all of them or rejects. The same message again changes nothing. */
  enqueue(messages: readonly Message[]): Promise<void>;
}
