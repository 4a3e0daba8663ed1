import { z } from 'zod';
import { textOrNull } from './values.js';

export const levelSchema = z.enum(['ok', 'note', 'warn', 'bad']).describe('How much it matters.');

export const doctorFindingSchema = z
  .strictObject({
    code: z.string().describe('Which check, for programs.'),
    level: levelSchema,
    subject: z.string().describe('What it is about: a pod, a cron, the store.'),
    text: z.string().describe('What was found, in a sentence.'),
    todo: textOrNull.describe('What to do about it; null: nothing.'),
  })
  .describe('What an examination of the deployment found.');

export type DoctorFindingJson = z.infer<typeof doctorFindingSchema>;
