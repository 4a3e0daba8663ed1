import { JobPayloadError } from './job-payload-error.js';
import { pathOf, type SchemaResult, type StandardSchema } from './standard-schema.js';

/** The output of a schema, which the handler gets. */
export type PayloadOf<Schema extends StandardSchema> = NonNullable<Schema['~standard']['types']>['output'];

/** Reads a payload, asynchronously if its schema is. @throws {JobPayloadError} */
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
