import { readFileSync } from 'node:fs';
import { Module } from '@nestjs/common';
import type { OpenAPIObject } from '@nestjs/swagger';
import { Test } from '@nestjs/testing';
import openApiTypes, { astToString } from 'openapi-typescript';
import { format, resolveConfig } from 'prettier';
import { beforeAll, describe, expect, it } from 'vitest';
import { ApiModule } from './api.module.js';
import { openApiOf } from './open-api.js';

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

describe('the OpenAPI document (to write it anew: npx vitest run libs/console/src/api/open-api.spec.ts --update)', () => {
  it('is the one that is kept in docs', async () => {
    await expect(await formatted(JSON.stringify(document), DOCUMENT)).toMatchFileSnapshot(DOCUMENT);
  });

  it('is valid by the rules of OpenAPI 3.1, and names each operation for the types of the client', async () => {
    // The generator checks the document first, and throws for one that is not valid.
    const types = astToString(await openApiTypes(JSON.stringify(document)));
    expect(types).toContain('operations["crons_list"]');
  });

  it('refers only to what is in it', () => {
    const text = readFileSync(new URL(DOCUMENT, import.meta.url), 'utf8');
    const known = Object.keys(document.components?.schemas ?? {});
    const meant = [...text.matchAll(/"\$ref": "#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name);
    expect(meant.length).toBeGreaterThan(50);
    expect(meant.filter((name) => !known.includes(name ?? ''))).toEqual([]);
  });

  it('says of each route what it is for, what it answers, and that it may refuse', () => {
    const operations = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.entries(item as Record<string, { summary?: string; responses: Record<string, unknown> }>).map(
        ([method, operation]) => ({ where: `${method} ${path}`, ...operation }),
      ),
    );
    expect(operations.length).toBeGreaterThanOrEqual(28);
    expect(operations.filter(({ summary }) => !summary).map(({ where }) => where)).toEqual([]);
    const silent = operations.filter(({ responses }) => !('default' in responses)).map(({ where }) => where);
    expect(silent).toEqual(['get /api/events', 'delete /session']);
  });
});
