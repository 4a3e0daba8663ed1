import { z } from 'zod';
import { textOrNull } from './values.js';

export const levelSchema = z.enum(['ok', 'note', 'warn', 'bad']).describe('Severity.');

export const doctorFindingSchema = z
  .strictObject({
    code: z.string().describe('Identifier of the check.'),
    level: levelSchema,
    subject: z.string().describe('What it is about: a pod, a cron, the store.'),
    text: z.string().describe('The finding in one sentence.'),
    todo: textOrNull.describe('What to do; null: nothing.'),
  })
  .describe('A finding about the deployment.');

export type DoctorFindingJson = z.infer<typeof doctorFindingSchema>;
