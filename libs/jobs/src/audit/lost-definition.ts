import type { Generation } from '@fencepost/ledger/catalog';
import type { Run } from '@fencepost/ledger/run';

/** A generation is effective no later than this after it was accepted, in milliseconds of the store's clock. */
const EFFECTIVE_WITHIN_MS = 2_000;

/**
 * Whether the catalog has lost what a run was claimed under. It may be lost by itself: with another server than the ledger's,
 * or in a failover that kept the claim.
 *
 * Nobody can claim under a generation that was not accepted yet. So where the catalog has that number from later on, it had
 * issued it before, and knows no more what it stood for. And a catalog that fell behind the ledger counts once more on from
 * there: what was claimed before that has a lower number, and may have had another definition.
 */
export function lostDefinitions(generations: readonly Generation[]): (run: Run, at: Generation) => boolean {
  const accepted = new Map(generations.map(({ generation, since }) => [generation, since - EFFECTIVE_WITHIN_MS]));
  return (run, at) => isRenumbered(run, at) || run.claimedAt < (accepted.get(run.generation) ?? -Infinity);
}

function isRenumbered(run: Run, { generation, renumberedAt }: Generation): boolean {
  return renumberedAt !== undefined && run.generation < generation && run.claimedAt <= renumberedAt;
}
