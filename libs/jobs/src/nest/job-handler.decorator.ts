import type { PayloadOf, StandardSchema } from '../running/payload-schema.js';
import type { RunContext } from '../running/run-context.js';
import type { ContextOf, HandlerDecorator, HandlerOptions } from './handler-options.js';
import type { NameOfClass } from './cron-name.js';
import { decorateWith } from './decorated-methods.js';
import type { SaidOptions } from './singleton-cron.decorator.js';

/** Durations are texts such as `'30s'`, or milliseconds. */
export interface JobHandlerOptions<Schema extends StandardSchema = StandardSchema> extends HandlerOptions, SaidOptions {
  /**
   * What a payload has to be: a Standard Schema (https://standardschema.dev), such as one of zod, valibot or arktype. It is
   * asked when a run is enqueued by a process that has the handler, and again when it runs: a payload of an older build may
   * not fit any more, and fails its run at once. What it returns is what the handler gets.
   */
  readonly schema?: Schema;
}

/**
 * What a handler receives whose payload is checked: `JobRun<typeof invoiceSchema>`, or
 * `JobRun<typeof invoiceSchema, TransactionalRunContext>`.
 */
export type JobRun<Schema extends StandardSchema, Context extends RunContext = RunContext> = Omit<
  Context,
  'payload'
> & {
  readonly payload: PayloadOf<Schema>;
};

/** What its schema makes of the payload, if it has one. */
type Run<Schema, Context extends RunContext> = [Schema] extends [never]
  ? Context
  : Schema extends StandardSchema
    ? JobRun<Schema, Context>
    : never;

/**
 * Carries out what is asked for with `Jobs.enqueue(name, payload)`, each once, on one of all the replicas.
 *
 * `@JobHandler('send-invoice', { schema })`, at a method of a provider. It is declared in the catalog as a cron with the
 * expression `@manual` and the overlap policy `allow`, so that a name is one cron or one job; and what runs it, retries it and
 * takes it over from a worker that died is what does so for a cron.
 */
export function JobHandler<const Schema extends StandardSchema = never, const Transactions extends boolean = false>(
  name: string | NameOfClass,
  options: JobHandlerOptions<Schema> & { readonly transactions?: Transactions } = {},
): HandlerDecorator<Run<Schema, ContextOf<Transactions>>> {
  return decorateWith({ called: '@JobHandler', metadata: { name, options } });
}
