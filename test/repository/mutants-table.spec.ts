import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { MUTANTS } from '../mutants/mutants.mjs';
import { tableOf } from '../mutants/table.mjs';

it('the page of the docs lists every mutant there is; `npm run mutants -- --table` writes it', () => {
  const page = readFileSync(new URL('../../docs/mutants.md', import.meta.url), 'utf8');
  expect(page === tableOf(MUTANTS), 'docs/mutants.md is not what the list makes of it').toBe(true);
});
