import { describe } from 'vitest';
import { birthContract, declaringContract } from './catalog/declaring.contract.js';
import { buildsContract, watchingContract } from './catalog/builds.contract.js';
import { changesContract, sourcesContract } from './catalog/changes.contract.js';
import { manyContract } from './catalog/many.contract.js';
import { removalContract } from './catalog/removal.contract.js';
import { sinceContract } from './catalog/since.contract.js';
import type { MakeCatalogHarness } from './catalog/stage.js';

export type { MakeCatalogHarness } from './catalog/stage.js';

/** The one suite that every catalog passes. */
export function catalogContract(name: string, makeHarness: MakeCatalogHarness): void {
  describe(`${name} keeps the catalog contract`, () => {
    declaringContract(makeHarness);
    buildsContract(makeHarness);
    removalContract(makeHarness);
    sourcesContract(makeHarness);
    changesContract(makeHarness);
    manyContract(makeHarness);
    sinceContract(makeHarness);
    watchingContract(makeHarness);
    birthContract(makeHarness);
  });
}
