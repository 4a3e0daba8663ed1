import { applyDecorators, HttpCode, UseInterceptors } from '@nestjs/common';
import { ApiDefaultResponse, ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import type { z } from 'zod';
import type { AccessRole } from '@fencepost/operations/access-tokens';
import { Needs } from '../auth/fencepost-guard.js';
import { ReadGateInterceptor } from './read-gate.js';
import { problemSchema } from './answers.js';

/** A place to look at: what it is for, and what it answers. */
export function Shows(schema: z.ZodType, summary: string): MethodDecorator {
  return applyDecorators(Needs('viewer'), UseInterceptors(ReadGateInterceptor), ...described(schema, summary));
}

/** An order: who may give it, what it is for, and what it answers. */
export function Orders(role: AccessRole, schema: z.ZodType, summary: string): MethodDecorator {
  return applyDecorators(Needs(role), HttpCode(200), ...described(schema, `${summary} Needs ${role}.`));
}

function described(schema: z.ZodType, summary: string): MethodDecorator[] {
  return [
    ApiOperation({ summary }),
    ApiOkResponse({ standardSchema: schema, description: schema.description ?? summary }),
    ApiDefaultResponse({ standardSchema: problemSchema, description: 'Why the request failed.' }),
  ];
}
