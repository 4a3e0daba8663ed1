import { z } from 'zod';
import type { Pause } from '@fencepost/ledger/run';
import { instant, instantOrNull, iso } from './values.js';

export const pauseSchema = z
  .strictObject({
    since: instant.describe('When the cron was paused.'),
    until: instantOrNull.describe('When the pause ends by itself; null: until somebody resumes the cron.'),
    by: z.string().describe('Who paused it.'),
    reason: z.string().describe('Why.'),
  })
  .describe('A pause of a cron.');

export type PauseJson = z.infer<typeof pauseSchema>;

export function presentPause({ since, until, by, reason }: Pause): PauseJson {
  return { since: iso(since), until: iso(until), by, reason };
}
