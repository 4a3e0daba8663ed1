import { expect, it } from 'vitest';
import type { CatalogChanges } from './catalog.js';
import { changePages } from './read-changes.js';

it('the next page is on its way to the store before the one at hand is read', async () => {
  const happened: string[] = [];
  const since = async (_version: number | null, after: string | null = null): Promise<CatalogChanges> => {
    const page = Number(after ?? 1);
    // As clients of a store do: what is asked for in one tick of the event loop goes out together.
    process.nextTick(() => happened.push(`sent ${page}`));
    return {
      ...{ version: 1, readAt: 1, gone: [], next: page < 3 ? String(page + 1) : null },
      get entries() {
        happened.push(`read ${page}`);
        return [];
      },
    };
  };
  for await (const page of changePages({ since }, null)) expect(page?.entries).toEqual([]);
  expect(happened).toEqual(['sent 1', 'sent 2', 'read 1', 'sent 3', 'read 2', 'read 3']);
});
