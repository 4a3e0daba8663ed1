import { z } from 'zod';
import type { Mute } from '../alarms/mutes.js';
import { instant, iso, textOrNull } from './values.js';

export const muteSchema = z
  .strictObject({
    cron: textOrNull.describe('The cron that is muted; null where a tag is.'),
    tag: textOrNull.describe('The tag whose crons are muted; null where a cron is.'),
    since: instant.describe('When it was muted, or its mute was changed.'),
    until: instant.describe('When the mute ends by itself.'),
    by: z.string().describe('Who muted it.'),
    reason: z.string().describe('Why.'),
  })
  .describe('Alarms that are raised, and whose receivers do not hear of them.');

export function presentMute({ since, until, ...mute }: Mute): z.infer<typeof muteSchema> {
  return { ...mute, since: iso(since), until: iso(until) };
}
