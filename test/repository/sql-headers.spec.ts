import { describe, expect, it } from 'vitest';
import { projectFiles } from './project-files.js';

interface Source {
  readonly path: string;
  readonly header: string;
  /** As it is sent: without comments. */
  readonly body: string;
}

const files: Source[] = projectFiles(/^(libs|apps)\/.*\.sql$/).map(({ path, text }) => ({
  path,
  header: /^(?:--.*\n)+/.exec(text)?.[0] ?? '',
  body: text.replace(/--.*$/gm, ''),
}));

/** Those that are numbered make tables; they are never changed once they were released, and return nothing. */
const isMigration = ({ path }: Source) => /\/migrations\/\d{3}(-[a-z]+)+\.sql$/.test(path);
/** Statements with values, and functions with named arguments. */
const sources = files.filter((file) => !isMigration(file));
const migrations = files.filter((file) => isMigration(file));

/** What the header lists: at the start of a line, before its explanation. */
const documented = ({ header }: Source) => [...header.matchAll(/^-- (\$\d+) {2}\S/gm)].map(([, value]) => value);
const used = ({ body }: Source) => [...new Set(body.match(/\$\d+/g) ?? [])].toSorted();

describe('the SQL statements', () => {
  it('are there', () => {
    expect(sources.length).toBeGreaterThan(3);
  });

  it.each(sources)('$path is named by a verb and a noun, and begins with a sentence', ({ path, header }) => {
    expect(path).toMatch(/\/[a-z]+(-[a-z]+)+\.sql$/);
    expect(header).toMatch(/^-- [A-Z]/);
  });

  it.each(sources)('$path lists in its header the values it uses, and no others', (source) => {
    expect(documented(source)).toEqual(used(source));
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
  it.each(files)('$path asks no clock that stands still', ({ body }) => {
    expect(body).not.toMatch(/\b(now|statement_timestamp|transaction_timestamp)\s*\(|\b(current|local)_?time/i);
  });
});
