import { applyDecorators, HttpCode, UseInterceptors } from '@nestjs/common';
import { ApiConflictResponse, ApiDefaultResponse, ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import type { z } from 'zod';
import type { AccessRole } from '@fencepost/operations/access-tokens';
import { Needs } from '../auth/fencepost-guard.js';
import { problemSchema } from './answers.js';
import { ReadGateInterceptor } from './read-gate.js';

/** A place to look at: what it is for, and what it answers. */
export function Shows(schema: z.ZodType, summary: string): MethodDecorator {
  return applyDecorators(Answers(schema, summary), UseInterceptors(ReadGateInterceptor));
}

/** One that asks no store, and so waits for nobody. */
export function Answers(schema: z.ZodType, summary: string): MethodDecorator {
  return applyDecorators(Needs('viewer'), ...described(schema, summary));
}

/** An order: who may give it, what it is for, and what it answers. */
export function Orders(role: AccessRole, schema: z.ZodType, summary: string): MethodDecorator {
  return applyDecorators(Needs(role), HttpCode(200), ...described(schema, `${summary} Needs ${role}.`));
}

/** The problems that the state of things can refuse an order with. */
export function Conflicts(...codes: readonly string[]): MethodDecorator {
  return ApiConflictResponse({ description: codes.join(', ') });
}

function described(schema: z.ZodType, summary: string): MethodDecorator[] {
  return [
    ApiOperation({ summary }),
    // Only so that the document has the schema: its answers by status are put in later.
    ApiDefaultResponse({ standardSchema: problemSchema }),
    ApiOkResponse({ standardSchema: schema, description: schema.description ?? summary }),
  ];
}
