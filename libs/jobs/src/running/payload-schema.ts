import { JobPayloadError } from './job-payload-error.js';
import { pathOf, type SchemaResult, type StandardSchema } from './standard-schema.js';

/** What a schema makes of a payload: what the handler gets. */
export type PayloadOf<Schema extends StandardSchema> = NonNullable<Schema['~standard']['types']>['output'];

/** Reads a payload, at once or, where its schema takes its time, later. @throws {JobPayloadError} */
export type PayloadReader = (payload: unknown) => unknown;

export function payloadReader(job: string, schema: StandardSchema): PayloadReader {
  return (payload) => {
    const checked = schema['~standard'].validate(payload);
    return checked instanceof Promise ? checked.then((later) => taken(job, later)) : taken(job, checked);
  };
}

function taken(job: string, checked: SchemaResult<unknown>): unknown {
  if (checked.issues === undefined) return checked.value;
  const issues = checked.issues.map((issue) => ({ field: pathOf(issue) || 'payload', problem: issue.message }));
  throw new JobPayloadError(job, issues);
}
