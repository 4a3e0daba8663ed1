import { applyDecorators, HttpCode, UseInterceptors } from '@nestjs/common';
import type { z } from 'zod';
import type { AccessRole } from '@fencepost/operations/access-tokens';
import { Needs } from '../auth/fencepost-guard.js';
import { ReadGateInterceptor } from './read-gate.js';

/** A place to look at: what it is for, and what it answers. */
export function Shows(schema: z.ZodType, summary: string): MethodDecorator {
  return applyDecorators(Answers(schema, summary), UseInterceptors(ReadGateInterceptor));
}

/** One that asks no store, and so waits for nobody. */
export function Answers(schema: z.ZodType, summary: string): MethodDecorator {
  return applyDecorators(Needs('viewer'), described(schema, summary));
}

/** An order: who may give it, what it is for, and what it answers. */
export function Orders(role: AccessRole, schema: z.ZodType, summary: string): MethodDecorator {
  return applyDecorators(Needs(role), HttpCode(200), described(schema, `${summary} Needs ${role}.`));
}

/** The problems that the state of things can refuse an order with. */
export function Conflicts(...codes: readonly string[]): MethodDecorator {
  return Describe({ conflicts: codes.join(', ') });
}

function described(schema: z.ZodType, summary: string): MethodDecorator {
  return Describe({ summary, answer: { schema, description: schema.description ?? summary } });
}

/** A body or an answer that is no JSON. */
interface PlainText {
  readonly type: string;
  readonly description: string;
}

/** What the OpenAPI document says of a route beside what its parameters say themselves. */
export interface RouteFacts {
  readonly summary?: string;
  /** `null` of a schema: the answer has no body. */
  readonly answer?: { readonly description: string; readonly schema: z.ZodType | null } | PlainText;
  readonly body?: PlainText;
  readonly header?: { readonly name: string; readonly description: string };
  readonly conflicts?: string;
}

const FACTS = Symbol('what the API document says of it');

/** Notes them for the document, which is written by a test: a console in production needs no generator. */
export function Describe(facts: RouteFacts): MethodDecorator {
  return (_target, _key, descriptor) => {
    const method = descriptor.value as object;
    Reflect.defineMetadata(FACTS, { ...routeFacts(method), ...facts }, method);
  };
}

/** @param method of a controller */
export function routeFacts(method: object): RouteFacts {
  return (Reflect.getMetadata(FACTS, method) as RouteFacts | undefined) ?? {};
}

/** The heading in the document under which the routes of a controller are. */
export function Tagged(tag: string): ClassDecorator {
  return (controller) => Reflect.defineMetadata(FACTS, tag, controller);
}

export function tagOf(controller: object): string | undefined {
  return Reflect.getMetadata(FACTS, controller) as string | undefined;
}
