import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { MUTANTS, oneOfEach } from '../mutants/mutants.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));

it('the text that a mutant replaces occurs exactly once in its file', () => {
  const texts = new Map([...new Set(MUTANTS.map(({ file }) => file))].map((file) => [file, textOf(file)]));
  const count = (file: string, find: string): number => (texts.get(file) ?? '').split(find).length - 1;
  const misfits = MUTANTS.filter(({ file, find }) => count(file, find) !== 1);
  expect(misfits.map(({ name, file, find }) => `${name}: ${count(file, find)} times in ${file}`)).toEqual([]);
});

it('a mutant changes the text that it replaces', () => {
  expect(MUTANTS.filter(({ find, replace }) => find === replace)).toEqual([]);
});

it('the spec that must kill a mutant exists', () => {
  expect(MUTANTS.filter(({ killedBy }) => !existsSync(root + killedBy)).map(({ name }) => name)).toEqual([]);
});

it('no two mutants have the same name', () => {
  const names = MUTANTS.map(({ name }) => name);
  expect(names.filter((name, n) => names.indexOf(name) !== n)).toEqual([]);
});

it('the suite tries at most 60 mutants; `npm run mutants` tries all', () => {
  expect(oneOfEach(MUTANTS).length).toBeLessThanOrEqual(60);
});

function textOf(file: string): string {
  return existsSync(root + file) ? readFileSync(root + file, 'utf8') : '';
}
