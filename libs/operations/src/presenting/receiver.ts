import { z } from 'zod';
import { instant, textOrNull } from './values.js';

export const deliverySchema = z
  .strictObject({
    at: instant.describe('When it ended.'),
    messageId: z.string().describe('The same for each try of a message.'),
    about: z.string().describe('Such as alarm.raised, ping.success or webhook.test.'),
    cron: textOrNull.describe('null for a test.'),
    attempt: z.int().min(1).describe('From 1.'),
    outcome: z.enum(['delivered', 'failed', 'muted']).describe('muted: not sent, because its cron was muted.'),
    status: z.int().nullable().describe('HTTP status of the answer; null: there was none.'),
    tookMs: z.number().describe('How long it took.'),
    error: textOrNull.describe('Why it failed.'),
  })
  .describe('One try to reach a receiver.');

export const receiverSchema = z
  .strictObject({
    id: z.string().describe('What a test delivery names it by.'),
    kind: z.enum(['webhook', 'pings']).describe('pings: the addresses of all crons that have some.'),
    to: textOrNull.describe('Scheme, host and port of its address; null for pings.'),
    events: z.array(z.string()).describe('What a webhook hears of.'),
    crons: z.array(z.string()).nullable().describe('Of which crons, the first 100; null: of all.'),
    moreCrons: z.int().describe('How many crons it hears of beside those.'),
    secrets: z.int().describe('Secrets that each message is signed with; two while one replaces the other.'),
    deliveries: z.array(deliverySchema).describe('The latest, newest first, at most 50.'),
  })
  .describe('A receiver of messages.');
