import { formatFence, parseFence } from '../base/fence.js';
import type { Fence } from '../base/fence.js';
import { checkWhole } from '../store/lease-request.js';
import type { SqlClient } from '../postgres/sql-client.js';
import { loadStatements } from '../postgres/sql-statement.js';
import type { BoundStatement } from '../postgres/sql-statement.js';
import { fenceTable } from '../postgres/table.js';
import type { TableName } from '../postgres/table.js';
import { unobserved } from '../telemetry/lease-events.js';
import type { FenceGate, FenceGateOptions } from './fence-gate.js';
import { refuseStale } from './refuse-stale.js';
import type { Refuser } from './refuse-stale.js';
import { TEXTS } from '../sql/texts.js';

export interface PostgresFenceGateOptions extends FenceGateOptions, TableName {
  /**
   * A pool, or the connection of the transaction that also writes. In the latter the gate is exact: no other holder is admitted for
   * the resource until the commit, and a rollback takes the admission back.
   */
  readonly client: SqlClient;
}

const statements = loadStatements(TEXTS, ['admit-fence']);

/** A gate whose memory is a table that {@link createFenceTable} makes. */
export class PostgresFenceGate implements FenceGate {
  readonly #client: SqlClient;
  readonly #statement: BoundStatement;
  readonly #refuser: Refuser;

  /** @throws {SetupError} for a schema or table that can't be a name */
  constructor(options: PostgresFenceGateOptions) {
    const { client, downstream = 'gate', observe = unobserved } = options;
    this.#client = client;
    this.#statement = statements['admit-fence'].about(fenceTable(options));
    this.#refuser = { downstream, observe };
  }

  async admit(resource: string, fence: Fence): Promise<void> {
    checkWhole('fence', fence, 1);
    const { rows } = await this.#statement.run(this.#client, resource, formatFence(fence));
    const highest = parseFence((rows[0] as { fence: string }).fence);
    if (fence < highest) refuseStale(this.#refuser, { resource, fence, detail: `fence ${highest} was admitted` });
  }
}
