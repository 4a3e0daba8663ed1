import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadScripts } from '@fencepost/lease/internal/redis';
import { readTexts } from '@fencepost/lease/internal/texts';
import { closeRedis } from '@fencepost/lease/redis';
import { testRedis } from '../support/redis.js';
import { projectFiles } from './project-files.js';

interface Source {
  readonly file: string;
  /** As it is sent, with what it includes. */
  readonly text: string;
  readonly header: string;
  readonly body: string;
}

function withoutComments(text: string): string {
  return text.replace(/--.*$/gm, '');
}

const INPUT = /\b(?:KEYS|ARGV)\[[^\]]+\]/g;

/** What the header lists: at the start of a line, before its explanation. */
function documented({ header }: Source): string[] {
  return [...header.matchAll(/^-- ((?:KEYS|ARGV)\[[^\]]+\]) {1,2}\S/gm)].map(([, input = '']) => input).toSorted();
}

function used({ body }: Source): string[] {
  return [...new Set(body.match(INPUT) ?? [])].toSorted();
}

const nameOf = (file: string) => file.replace(/^.*\/|\.lua$/g, '');

describe('the Lua scripts', () => {
  const root = fileURLToPath(new URL('../../', import.meta.url));

  const files = ['libs', 'apps'].flatMap(luaFilesBelow).toSorted();

  function luaFilesBelow(group: string): string[] {
    const sources = readdirSync(`${root}${group}`).map((name) => `${group}/${name}/src`);
    return sources
      .filter((folder) => existsSync(`${root}${folder}`))
      .flatMap((folder) =>
        readdirSync(`${root}${folder}`, { recursive: true }).map((name) => `${folder}/${String(name)}`),
      )
      .filter((file) => file.endsWith('.lua'));
  }

  function read(file: string): Source {
    const [, folder = '', name = ''] = /^(.*\/)([^/]+)\.lua$/.exec(file) ?? [];
    const { text } = loadScripts(readTexts(pathToFileURL(`${root}${folder}`).href), [name])[name] ?? { text: '' };
    const own = readFileSync(`${root}${file}`, 'utf8');
    const header = /^(?:--.*\n)+/.exec(own)?.[0] ?? '';
    return { file, text, header, body: withoutComments(text) };
  }

  const sources = files.map(read);

  const included = new Set(
    files.flatMap((file) =>
      [...readFileSync(`${root}${file}`, 'utf8').matchAll(/^-- @include (lease\/)?(\S+)$/gm)].map(
        ([, shared, name = '']) => `${shared ? 'libs/lease/src/lua' : dirname(file)}/${name}.lua`,
      ),
    ),
  );

  const isIncluded = ({ file }: Source) => included.has(file);

  const scripts = sources.filter((source) => !isIncluded(source));

  describe('the Lua scripts', () => {
    it('exist once: what two packages need is included from libs/lease', () => {
      const texts = files.map((file) => readFileSync(`${root}${file}`, 'utf8'));
      expect(files.filter((_file, at) => texts.indexOf(texts[at] ?? '') !== at)).toEqual([]);
    });

    it('are there', () => {
      expect(scripts.length).toBeGreaterThan(3);
    });

    it.each(sources)('$file is named by a verb and a noun, and begins with a sentence', ({ file, header }) => {
      expect(nameOf(file)).toMatch(/^[a-z]+(-[a-z]+)+$/);
      expect(header).toMatch(/^-- [A-Z]/);
    });

    it.each(scripts)('$file lists in its header the keys and arguments it uses, and no others', (source) => {
      expect(documented(source)).toEqual(used(source));
    });

    it.each(scripts)('$file says what it returns', ({ header }) => {
      expect(header).toMatch(/^-- Returns {2}\S/m);
    });

    // Each of these turns 1787654321123456 into 1.7876543211235e+15; string.format('%.0f', n) does not.
    it.each(sources)('$file lets no number out by a way that rounds it', ({ text }) => {
      expect(withoutComments(text)).not.toMatch(/\btostring\s*\(|\bcjson\.encode\b/);
    });
  });

  describe('a Redis', () => {
    let redis: Redis;
    beforeAll(() => {
      redis = new Redis(testRedis());
    });
    afterAll(() => closeRedis(redis));

    it.each(scripts)('compiles $file', async ({ text }) => {
      expect(await redis.script('LOAD', text)).toMatch(/^[0-9a-f]{40}$/);
    });
  });
});

describe('the SQL statements', () => {
  interface Statement {
    readonly path: string;
    readonly header: string;
    /** As it is sent: without comments. */
    readonly body: string;
  }

  const files: Statement[] = projectFiles(/^(libs|apps)\/.*\.sql$/).map(({ path, text }) => ({
    path,
    header: /^(?:--.*\n)+/.exec(text)?.[0] ?? '',
    body: text.replace(/--.*$/gm, ''),
  }));

  /** Those that are numbered make tables; they are never changed once they were released, and return nothing. Nor does what undoes them. */
  const isMigration = ({ path }: Statement) => /\/(migrations|down)\/\d{3}(-[a-z]+)+\.sql$/.test(path);

  /** Statements with values, and functions with named arguments. */
  const sources = files.filter((file) => !isMigration(file));

  const migrations = files.filter(({ path }) => path.includes('/migrations/'));

  /** What the header lists: at the start of a line, before its explanation. */
  const documentedValues = ({ header }: Statement) =>
    [...header.matchAll(/^-- (\$\d+) {2}\S/gm)].map(([, value]) => value);

  const usedValues = ({ body }: Statement) => [...new Set(body.match(/\$\d+/g) ?? [])].toSorted();

  it('are there', () => {
    expect(sources.length).toBeGreaterThan(3);
  });

  it.each(sources)('$path is named by a verb and a noun, and begins with a sentence', ({ path, header }) => {
    expect(path).toMatch(/\/[a-z]+(-[a-z]+)+\.sql$/);
    expect(header).toMatch(/^-- [A-Z]/);
  });

  it.each(sources)('$path lists in its header the values it uses, and no others', (source) => {
    expect(documentedValues(source)).toEqual(usedValues(source));
  });

  it.each(sources)('$path says what it returns', ({ header }) => {
    expect(header).toMatch(/^-- Returns {2}\S/m);
  });

  it('are numbered one after the other where they make tables', () => {
    const numbers = migrations.map(({ path }) => Number(/(\d{3})-[^/]*$/.exec(path)?.[1]));
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
    expect(numbers.length).toBeGreaterThan(0);
    for (const { header } of migrations) expect(header).toMatch(/^-- [A-Z]/);
  });

  // They stand still from the beginning of a transaction on, also while it waits for a lock.
  it.each(files)('$path asks no clock that stands still', ({ path, body }) => {
    // There it is to: it names the transaction that begins in the same message.
    if (path.endsWith('/prepare-transaction.sql')) return;
    expect(body).not.toMatch(/\b(now|statement_timestamp|transaction_timestamp)\s*\(|\b(current|local)_?time/i);
  });
});
