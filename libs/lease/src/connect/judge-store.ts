import { SetupError } from '../base/errors.js';
import type { LeaseSettings } from './lease-settings.js';
import type { Finding } from '../store/finding.js';
import type { LeaseStore } from '../store/lease-store.js';

const UNKNOWN: Finding = {
  code: 'UNCHECKED',
  danger: 'warn',
  message:
    'The store of the leases has no "probe", so whether it keeps what it has acknowledged is unknown. Check by hand, or give ' +
    'it that method.',
};

/**
 * Holds a store that was handed in against `criticality`, as `connectRedis` does with a server that it opens.
 * @throws {SetupError} one sentence for each thing to change
 */
export async function judgeStore(
  store: LeaseStore,
  { criticality, observe }: Pick<LeaseSettings, 'criticality' | 'observe'>,
): Promise<void> {
  const unknown = criticality === 'correctness' ? [UNKNOWN] : [];
  const findings = store.probe ? await store.probe(criticality) : unknown;
  const refused = findings.filter(({ danger }) => danger === 'refuse');
  if (refused.length > 0) throw new SetupError(refused.map(({ message }) => message).join(' '));
  for (const { code, message } of findings) observe?.({ name: 'store.warning', code, message });
}
