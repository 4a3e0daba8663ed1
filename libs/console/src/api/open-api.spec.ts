import { readFileSync } from 'node:fs';
import { Module } from '@nestjs/common';
import type { OpenAPIObject } from '@nestjs/swagger';
import { Test } from '@nestjs/testing';
import openApiTypes, { astToString } from 'openapi-typescript';
import { format, resolveConfig } from 'prettier';
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { NAMED } from './answers.js';
import { ApiModule } from './api.module.js';
import { exampleOf, type Schemas } from './open-api-examples.stage.js';
import { openApiOf } from './open-api.stage.js';

const DOCUMENT = '../../../../docs/openapi.json';

@Module({})
class Elsewhere {}

let document: OpenAPIObject;

/** The routes alone: what they ask is not needed to describe them. */
beforeAll(async () => {
  const imports = [ApiModule.on({ module: Elsewhere }, { module: Elsewhere })];
  const built = await Test.createTestingModule({ imports })
    .useMocker(() => ({}))
    .compile();
  document = openApiOf(built.createNestApplication());
});

async function formatted(text: string, path: string): Promise<string> {
  const file = new URL(path, import.meta.url).pathname;
  return format(text, { ...(await resolveConfig(file)), filepath: file });
}

interface Body {
  readonly content?: Readonly<
    Record<string, { readonly schema: { readonly type?: string }; readonly example?: unknown }>
  >;
}

interface Operation {
  readonly where: string;
  readonly summary?: string;
  readonly requestBody?: Body;
  readonly responses: Readonly<Record<string, Body>>;
}

function operationsOf({ paths }: OpenAPIObject): Operation[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item as Record<string, Omit<Operation, 'where'>>).map(([method, operation]) => ({
      where: `${method} ${path}`,
      ...operation,
    })),
  );
}

describe('the OpenAPI document (to write it anew: npx vitest run libs/console/src/api/open-api.spec.ts --update)', () => {
  it('is the one that is kept in docs', async () => {
    await expect(await formatted(JSON.stringify(document), DOCUMENT)).toMatchFileSnapshot(DOCUMENT);
  });

  it('is valid by the rules of OpenAPI 3.1, and names each operation for the types of the client', async () => {
    // The generator checks the document first, and throws for one that is not valid.
    const types = astToString(await openApiTypes(JSON.stringify(document)));
    expect(types).toContain('operations["listCrons"]');
  });

  it('refers only to what is in it', () => {
    const text = readFileSync(new URL(DOCUMENT, import.meta.url), 'utf8');
    const known = Object.keys(document.components?.schemas ?? {});
    const meant = [...text.matchAll(/"\$ref": "#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name);
    expect(meant.length).toBeGreaterThan(50);
    expect(meant.filter((name) => !known.includes(name ?? ''))).toEqual([]);
  });

  it('says of each route what it is for, what it answers, and that it may refuse', () => {
    const operations = operationsOf(document);
    expect(operations.length).toBeGreaterThanOrEqual(28);
    expect(operations.filter(({ summary }) => !summary).map(({ where }) => where)).toEqual([]);
    for (const status of ['403', '429', '500', '503'])
      expect(operations.filter(({ responses }) => !(status in responses)).map(({ where }) => where)).toEqual([]);
  });

  it('has examples of every request and answer, which the schemas accept', () => {
    const { schemas } = document.components ?? {};
    for (const [name, schema] of Object.entries(NAMED)) {
      if (name in (schemas ?? {}))
        schema.parse(exampleOf({ $ref: `#/components/schemas/${name}` }, { schemas: schemas as Schemas }));
    }
    const bodies = operationsOf(document).flatMap(({ requestBody, responses }) =>
      [requestBody, ...Object.values(responses)].flatMap((body) => Object.values(body?.content ?? {})),
    );
    expect(bodies.length).toBeGreaterThan(200);
    for (const { schema, example } of bodies.filter((body) => body.example !== undefined)) {
      const whole = JSON.stringify({ ...schema, $defs: schemas }).replaceAll('#/components/schemas/', '#/$defs/');
      expect(() => z.fromJSONSchema(JSON.parse(whole)).parse(example)).not.toThrow();
    }
  });
});
