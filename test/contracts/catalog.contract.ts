import { describe } from 'vitest';
import { birthContract, declaringContract } from './catalog/declaring.contract.js';
import { enrolmentContract } from './catalog/enrolment.contract.js';
import { revisionsContract, watchingContract } from './catalog/revisions.contract.js';
import { appsContract, changesContract } from './catalog/changes.contract.js';
import { manyContract } from './catalog/many.contract.js';
import { removalContract } from './catalog/removal.contract.js';
import { sinceContract } from './catalog/since.contract.js';
import type { MakeCatalogHarness } from './catalog/stage.js';

export type { MakeCatalogHarness } from './catalog/stage.js';

/** The one suite that every catalog passes. */
export function catalogContract(name: string, makeHarness: MakeCatalogHarness): void {
  describe(`${name} keeps the catalog contract`, () => {
    declaringContract(makeHarness);
    revisionsContract(makeHarness);
    enrolmentContract(makeHarness);
    removalContract(makeHarness);
    appsContract(makeHarness);
    changesContract(makeHarness);
    manyContract(makeHarness);
    sinceContract(makeHarness);
    watchingContract(makeHarness);
    birthContract(makeHarness);
  });
}
