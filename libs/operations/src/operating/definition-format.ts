import { ownerPrefix } from '@fencepost/lease/internal';
import type { Membership } from '@fencepost/jobs/internal';
import { OperatorInputError } from '@fencepost/ledger';
import type { Declaration } from '@fencepost/ledger/catalog';
import { FIRST_FORMAT, formatOf } from '@fencepost/ledger/format';

/**
 * Checks that every live process can read a definition.
 * @param membership without it, only this process is asked
 * @throws {OperatorInputError} for a text that a live process of an older release would not know
 */
export async function checkFormat(
  { definition }: Declaration,
  membership: Pick<Membership, 'lowestFormat'> | undefined,
): Promise<void> {
  const wanted = formatOf(definition);
  if (wanted === FIRST_FORMAT || !membership) return;
  const { format, process } = await membership.lowestFormat();
  if (format >= wanted) return;
  throw new OperatorInputError(
    `"${definition.name}" can't have a description, an owner or a runbook yet: the process "${ownerPrefix(process ?? '')}" has ` +
      `format ${format}, and they need format ${wanted}. Upgrade that process, then repeat the command.`,
  );
}
