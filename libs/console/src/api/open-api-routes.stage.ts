import { PROBLEM_JSON, problemDetails } from '@fencepost/lease/http';
import type { OpenAPIObject } from '@nestjs/swagger';
import { exampleOf, type Schema, type Schemas } from './open-api-examples.stage.js';
import { PROBLEM_TYPES } from './problem-types.js';

type Content = Record<string, { schema: Schema; example?: unknown }>;

interface Operation {
  operationId: string;
  parameters?: readonly { readonly in: string; readonly name: string }[];
  requestBody?: { content: Content };
  responses: Record<string, { description: string; content?: Content }>;
}

/** Gives each operation a name that reads as a call, every problem that it can answer, and examples. */
export function completeRoutes(document: OpenAPIObject): void {
  const schemas = (document.components?.schemas ?? {}) as Schemas;
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(methods as Record<string, Operation>)) {
      operation.operationId = operationId(method, path);
      delete operation.responses['default'];
      const bodies: { content?: Content }[] = [operation.requestBody ?? {}, ...Object.values(operation.responses)];
      for (const { content } of bodies) withExample(content?.['application/json'], schemas);
      Object.assign(operation.responses, problemResponses(path, operation));
    }
  }
}

function withExample(media: Content[string] | undefined, schemas: Schemas): void {
  if (media) media.example = exampleOf(media.schema, { schemas });
}

const VERBS: Readonly<Record<string, string>> = { get: 'get', put: 'set', post: 'create', delete: 'remove' };

/** `listCrons`, `getCron`, `getCronRuns`, `pauseCron`, `orderRuns`. */
function operationId(method: string, path: string): string {
  const parts = path.split('/').filter((part) => part !== '' && part !== 'api');
  const names = parts.map((part, n) => (parts[n + 1]?.startsWith('{') ? singular(camel(part)) : camel(part)));
  const nouns = names.filter((_, n) => !parts[n]?.startsWith('{'));
  const last = nouns.at(-1) ?? '';
  if (last === 'import' || last === 'export') return last + nouns.slice(0, -1).map(capital).join('');
  if (method === 'post' && nouns.length > 1)
    return orderId(
      nouns,
      parts.some((part) => part.startsWith('{')),
    );
  const verb = method === 'get' && nouns.length === 1 && last.endsWith('s') ? 'list' : (VERBS[method] ?? method);
  return verb + nouns.map(capital).join('');
}

/** The last part of an order's path is its verb. */
function orderId(nouns: readonly string[], isOfOne: boolean): string {
  const verb = nouns.at(-1) ?? '';
  const things = nouns.slice(0, -1).map(capital).join('');
  return verb === 'orders' ? `order${things}` : verb + (isOfOne ? things : singular(things));
}

const camel = (part: string) => part.replaceAll(/[^a-z]+(.)/g, (_, letter: string) => letter.toUpperCase());
const capital = (name: string) => name.charAt(0).toUpperCase() + name.slice(1);
const singular = (name: string) => name.replace(/s$/, '');

/** What stands in a path, and the problem where nothing is of that name. */
const UNKNOWN: Readonly<Record<string, string>> = { '{cron}': 'CRON_UNKNOWN', '{id}': 'RUN_UNKNOWN' };
const OF_INPUT = ['BAD_REQUEST', 'OPERATOR_INPUT', 'SCHEDULE', 'CRON_DECLARATION'];
const ALWAYS = ['FORBIDDEN', 'CROSS_ORIGIN', 'FOREIGN_HOST', 'TOO_MANY_REQUESTS', 'UNEXPECTED', 'STORE_AWAY', 'AWAY'];

const statusOf = (code: string) => PROBLEM_TYPES[code]?.status ?? 500;

function problemResponses(
  path: string,
  { parameters = [], requestBody, responses }: Operation,
): Operation['responses'] {
  const codes = [
    ...ALWAYS,
    ...(path === '/session' ? [] : ['TOO_MANY_QUESTIONS', 'BUSY']),
    ...(path === '/session' && !requestBody ? [] : ['UNAUTHENTICATED']),
    ...(parameters.length > 0 || requestBody ? OF_INPUT : []),
    ...(requestBody ? ['TOO_LARGE', 'NOT_JSON'] : []),
    ...Object.entries(UNKNOWN).flatMap(([part, code]) => (path.includes(part) ? [code] : [])),
    ...(responses['409']?.description.split(', ') ?? []),
  ];
  const statuses = [...new Set(codes.map(statusOf))];
  const ofStatus = (status: number) => problemResponse(codes.filter((code) => statusOf(code) === status));
  return Object.fromEntries(statuses.map((status) => [status, ofStatus(status)]));
}

function problemResponse(codes: readonly string[]) {
  const [first = 'UNEXPECTED'] = codes;
  const { title = '', status = 500, remedy = '' } = PROBLEM_TYPES[first] ?? {};
  const example = problemDetails(first, { status, title, detail: remedy });
  const schema = { $ref: '#/components/schemas/Problem' };
  return { description: codes.join(', '), content: { [PROBLEM_JSON]: { schema, example } } };
}
