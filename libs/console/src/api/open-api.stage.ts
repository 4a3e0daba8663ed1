import type { INestApplication } from '@nestjs/common';
import {
  ApiBody,
  ApiConflictResponse,
  ApiConsumes,
  ApiDefaultResponse,
  ApiHeader,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
  DocumentBuilder,
  SwaggerModule,
  type OpenAPIObject,
  type StandardSchemaConverter,
} from '@nestjs/swagger';
import { z } from 'zod';
import { NAMED, problemSchema } from './answers.js';
import { ApiModule } from './api.module.js';
import { routeFacts, tagOf, type RouteFacts } from './describe-route.js';
import { completeRoutes } from './open-api-routes.stage.js';

const DESCRIPTION =
  'State and history of crons, runs and leases; and orders to crons and runs. Instants are ISO 8601 in UTC, durations ' +
  'milliseconds, fences decimal texts.';

type Controller = (new (...args: never[]) => object) & { readonly prototype: object };

/** Says to the generator, in its own words, what the controllers note of their routes. */
function decorate(controller: Controller): void {
  const tag = tagOf(controller);
  if (tag !== undefined) Reflect.decorate([ApiTags(tag)], controller);
  const methods = Object.entries(Object.getOwnPropertyDescriptors(controller.prototype));
  for (const [key, method] of methods) {
    const facts = typeof method.value === 'function' ? routeFacts(method.value as object) : {};
    for (const decorator of decoratorsOf(facts)) decorator(controller.prototype, key, method);
  }
}

function decoratorsOf({ summary, answer, body, header, conflicts }: RouteFacts): MethodDecorator[] {
  return [
    ...(summary === undefined ? [] : [ApiOperation({ summary })]),
    ...(conflicts === undefined ? [] : [ApiConflictResponse({ description: conflicts })]),
    ...(body ? [ApiConsumes(body.type), ApiBody({ description: body.description, schema: TEXT })] : []),
    ...(header ? [ApiHeader({ ...header, required: false })] : []),
    // Only so that the document has the schema: its answers by status are put in later.
    ...(answer && 'schema' in answer && answer.schema ? [ApiDefaultResponse({ standardSchema: problemSchema })] : []),
    ...(answer ? [answerOf(answer)] : []),
  ];
}

const TEXT = { type: 'string' };

function answerOf(answer: NonNullable<RouteFacts['answer']>): MethodDecorator {
  const { description } = answer;
  if ('type' in answer) return ApiOkResponse({ description, content: { [answer.type]: { schema: TEXT } } });
  if (answer.schema === null) return ApiNoContentResponse({ description });
  return ApiOkResponse({ standardSchema: answer.schema, description });
}

/** Its stores and access are not needed to describe routes. */
const ANY = { module: ApiModule };

/** The OpenAPI document of the app's own routes. */
export function openApiOf(app: INestApplication): OpenAPIObject {
  (ApiModule.on(ANY, ANY).controllers as Controller[]).forEach(decorate);
  const config = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Fencepost')
    .setDescription(DESCRIPTION)
    .setVersion('1')
    .addServer('.', 'The console, wherever it is mounted')
    .addBearerAuth({ type: 'http', scheme: 'bearer', description: 'An access token.' }, 'token')
    .addCookieAuth('fencepost_session', { type: 'apiKey', in: 'cookie' }, 'session')
    .addSecurityRequirements('token')
    .addSecurityRequirements('session')
    .build();
  const document = SwaggerModule.createDocument(app, config, {
    include: [ApiModule],
    standardSchemaConverter: converter,
  });
  completeRoutes(document);
  return corrected(document);
}

/** Who signs in has no token to show yet, and our tokens are no JWT, which is what the generator takes a bearer for. */
function corrected(document: OpenAPIObject): OpenAPIObject {
  const signIn = document.paths['/session']?.post;
  if (signIn) signIn.security = [];
  const scheme = document.components?.securitySchemes?.['token'];
  if (scheme && 'bearerFormat' in scheme) delete scheme.bearerFormat;
  return document;
}

const NAMES = new Map<unknown, string>(Object.entries(NAMED).map(([name, schema]) => [schema, name]));

/** What has a name of its own stands in the document once, and is referred to. */
const converter: StandardSchemaConverter = (schema, { schemaType }) => {
  const registry = z.registry<{ id: string }>();
  for (const [named, id] of NAMES) registry.add(named as z.ZodType, { id });
  const {
    $schema: _dialect,
    $defs = {},
    ...json
  } = z.toJSONSchema(schema as z.ZodType, {
    io: schemaType,
    metadata: registry,
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => asOnTheWire(zodSchema, jsonSchema),
  });
  return { schema: json, components: $defs };
};

/** A number in an address is a text; whoever asks has a number, and its client writes it down. */
function asOnTheWire(schema: z.core.$ZodTypes, json: z.core.JSONSchema.BaseSchema): void {
  const meta = z.globalRegistry.get(schema);
  if (meta?.['wire'] === 'integer') {
    json.type = 'integer';
    delete json.pattern;
  }
  if (meta?.['wire'] === 'boolean') {
    json.type = 'boolean';
    delete json.enum;
    delete json.default;
  }
  if (meta?.['wire'] === 'text') json.type = 'string';
  if (meta?.['wire'] === 'texts') {
    delete json.anyOf;
    Object.assign(json, { type: 'array', items: { type: 'string' } });
  }
  if (meta?.description !== undefined) json.description = meta.description;
  delete json['wire'];
  // As long as a paragraph, and says no more than the format does.
  if (json.format === 'date-time') delete json.pattern;
}
