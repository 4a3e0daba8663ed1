import { z } from 'zod';
import type { CronDefinition } from '@fencepost/ledger/catalog';
import { MANUAL } from '@fencepost/schedule';
import { CRON_NAME } from '@fencepost/ledger/run';
import type { CronHandler } from '../running/delivery.js';
import { payloadReader } from '../running/payload-schema.js';
import { isStandardSchema, type StandardSchema } from '../running/standard-schema.js';
import { parsed, wrong, type CheckedCron } from './cron-declaration.js';
import { NAME } from './cron-options.js';
import { HANDLER_PARTS, HANDLER_SHAPE, handlerContradiction, handlerTerms } from './handler-options.js';
import type { JobMetadata } from './job-handler.decorator.js';

const SCHEMA = 'a Standard Schema version 1 (https://standardschema.dev), such as z.object({ to: z.string() })';

const schema = z.strictObject(
  { schema: z.custom<StandardSchema>(isStandardSchema, SCHEMA).optional(), ...HANDLER_SHAPE },
  'an options object, or none',
);

const PARTS: Readonly<Record<PropertyKey, object>> = HANDLER_PARTS;

const FORM = {
  schema,
  called: '@JobHandler',
  known: (option: PropertyKey | undefined) => Object.keys(PARTS[option ?? ''] ?? schema.shape),
};

export type CheckedJob = CheckedCron & Pick<CronHandler, 'readPayload'>;

/**
 * Checks what stands at a method, for the whole cluster to rely on.
 * @param where class and method, for the message
 * @throws {CronDeclarationError} naming the option, what was expected, and what came
 */
export function checkJob(where: string, { name, options }: JobMetadata): CheckedJob {
  const place = { where, called: FORM.called };
  if (typeof name !== 'string' || !CRON_NAME.test(name)) {
    throw wrong(place, { option: 'name', expected: NAME, got: JSON.stringify(name) ?? 'nothing' });
  }
  const checked = parsed(where, options, FORM);
  const contrary = handlerContradiction(checked);
  if (contrary) throw wrong(place, contrary);
  return {
    declaration: { definition: definitionOf(name), disabled: false },
    ...handlerTerms(checked),
    ...(checked.schema ? { readPayload: payloadReader(name, checked.schema) } : {}),
  };
}

/** Two runs of a job are two pieces of work, which is why they may overlap. What is about instants says nothing here. */
function definitionOf(name: string): CronDefinition {
  return {
    name,
    expression: MANUAL,
    timeZone: 'UTC',
    misfire: 'skip',
    overlap: 'allow',
    graceMs: 0,
    catchUpWindowMs: null,
  };
}
