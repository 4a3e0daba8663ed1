import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { missingTests, NAMED_TEST } from '../support/test-titles.js';

const page = readFileSync(new URL('../../docs/features.md', import.meta.url), 'utf8');
const rows = [...page.matchAll(/^\| (\d+) +\|/gm)].map(([, number]) => Number(number));

/** The rows with their tests, as the sections below the table list them. */
const entries = page.split(/^(?=- |#)/m).filter((part) => part.startsWith('- **'));

it('each row names tests that exist, by their file and exact title', () => {
  expect(rows).toEqual(Array.from({ length: 25 }, (_, n) => n + 1));
  const shown = entries.map((entry) => Number(/^- \*\*(\d+)/.exec(entry)?.[1]));
  expect(shown.toSorted((a, b) => a - b)).toEqual(rows);
  expect(entries.filter((entry) => entry.match(NAMED_TEST) === null)).toEqual([]);
  expect(missingTests(page)).toEqual([]);
});
