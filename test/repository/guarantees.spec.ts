import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { MUTANTS } from '../mutants/mutants.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
const page = readFileSync(`${root}docs/guarantees.md`, 'utf8');
const sections = page.split(/^### /m).slice(1);
const promises = sections.filter((section) => /^G\d+ /.test(section));

it('each promise is numbered, and names tests that are there', () => {
  expect(promises.map((section) => section.split(' ')[0])).toEqual(promises.map((_, n) => `G${n + 1}`));
  for (const promise of promises) {
    const [title] = promise.split('\n');
    const named = [...(/^- Shown by: (.+)$/m.exec(promise)?.[1] ?? '').matchAll(/`([^`]+)`/g)].map(([, file]) => file);
    expect(named.length, title).toBeGreaterThan(0);
    for (const file of named) expect(existsSync(root + file), `${title}: ${file}`).toBe(true);
  }
});

it('each defence that is said to have been taken out is a mutant', () => {
  const names = new Set(MUTANTS.map(({ name }) => name));
  const said = [...page.matchAll(/^- Taken out: (.+)$/gm)].flatMap(([, list = '']) =>
    [...list.matchAll(/"([^"]+)"/g)].map(([, name]) => name ?? ''),
  );
  expect(said.length).toBeGreaterThan(10);
  expect(said.filter((name) => !names.has(name))).toEqual([]);
});
