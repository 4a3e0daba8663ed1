import { describe } from 'vitest';
import { birthContract } from './catalog/birth.contract.js';
import { buildsContract } from './catalog/builds.contract.js';
import { changesContract } from './catalog/changes.contract.js';
import { declaringContract } from './catalog/declaring.contract.js';
import { removalContract } from './catalog/removal.contract.js';
import { sourcesContract } from './catalog/sources.contract.js';
import type { MakeCatalogHarness } from './catalog/stage.js';
import { watchingContract } from './catalog/watching.contract.js';

export type { MakeCatalogHarness } from './catalog/stage.js';

/** The one suite that every catalog passes. */
export function catalogContract(name: string, makeHarness: MakeCatalogHarness): void {
  describe(`${name} keeps the catalog contract`, () => {
    declaringContract(makeHarness);
    buildsContract(makeHarness);
    removalContract(makeHarness);
    sourcesContract(makeHarness);
    changesContract(makeHarness);
    watchingContract(makeHarness);
    birthContract(makeHarness);
  });
}
