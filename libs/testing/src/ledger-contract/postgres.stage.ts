import { SPACE, type PostgresLedgerSandbox } from '../../../../test/support/postgres-ledger-sandbox.js';
import { Stage } from './stage.js';

/** A stage whose ledger is of the space that all stages of a sandbox share. */
export function stageIn(
  sandbox: PostgresLedgerSandbox,
  over: Parameters<PostgresLedgerSandbox['ledger']>[0] = {},
): Promise<Stage> {
  return Stage.of(async (timing) => ({
    ...(await sandbox.harness(timing)),
    ledger: sandbox.ledger({ ...SPACE, ...over }),
  }));
}
