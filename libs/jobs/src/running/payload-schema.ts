import { JobPayloadError } from './errors.js';

/** One issue found by a schema, and its path. */
export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

export type SchemaResult<Output> =
  { readonly value: Output; readonly issues?: undefined } | { readonly issues: readonly SchemaIssue[] };

/** The interface of zod, valibot, arktype and others: https://standardschema.dev, version 1. */
export interface StandardSchema<Output = unknown, Input = unknown> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

export function isStandardSchema(value: unknown): value is StandardSchema {
  // The schemas of some libraries are functions.
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false;
  const standard: unknown = Reflect.get(value, '~standard');
  if (typeof standard !== 'object' || standard === null) return false;
  return Reflect.get(standard, 'version') === 1 && typeof Reflect.get(standard, 'validate') === 'function';
}

/** The issues in one sentence: `at items.0.price: expected a number`. */
export function issuesText(issues: readonly SchemaIssue[]): string {
  return issues
    .map((issue) => (issue.path?.length ? `at ${pathOf(issue)}: ${issue.message}` : issue.message))
    .join('; ');
}

/** The path of an issue, such as `customer.email`; empty for the whole value. */
function pathOf({ path = [] }: SchemaIssue): string {
  return path.map((step) => String(typeof step === 'object' ? step.key : step)).join('.');
}

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
