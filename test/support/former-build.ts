import { definitionSet, type Declaration } from '@fencepost/ledger/catalog';
import type { PostgresSandbox } from './postgres-sandbox.js';

/** Builds of version 10 ordered themselves by the time of their files. */
export const FORMER_SEQ = Date.UTC(2026, 0, 5);
export const FORMER_WHO = JSON.stringify({
  format: 2,
  by: `shop build ${FORMER_SEQ}`,
  reason: null,
  zoneData: '2025c',
});

interface Former {
  readonly space: string;
  readonly app?: string;
  readonly seq?: number;
}

/** Writes the rows that a build of version 10 wrote when it declared crons. */
export async function declareAsFormer(
  { pool, schema }: PostgresSandbox,
  crons: readonly Declaration[],
  { space, app = 'shop', seq = FORMER_SEQ }: Former,
): Promise<void> {
  for (const { definition } of crons) {
    const [declared] = [...definitionSet({ app }, [{ definition, disabled: false }]).crons.values()];
    const text = JSON.stringify(definition);
    await pool.query(
      `insert into "${schema}".catalog_generation (space, cron, generation, since, state, nonce, who, definition)
       values ($1, $2, 1, $3, 'active', '', $4, $5)`,
      [space, definition.name, seq, FORMER_WHO, text],
    );
    await pool.query(
      `insert into "${schema}".catalog_cron (space, name, seq, hash, source) values ($1, $2, $3, $4, $5)`,
      [space, definition.name, seq, declared, app],
    );
  }
  await pool.query(
    `insert into "${schema}".catalog_build (space, source, seq) values ($1, $2, $3)
     on conflict (space, source) do update set seq = excluded.seq`,
    [space, app, seq],
  );
  await pool.query(
    `insert into "${schema}".catalog_state (space, version, born_at) values ($1, $2, $2)
     on conflict (space) do update set version = catalog_state.version + 1`,
    [space, seq],
  );
}

/** Locks a catalog as a change by a build of any version does. */
export const locking = (schema: string, space: string) =>
  `select pg_advisory_xact_lock(hashtextextended('fencepost catalog ${schema} ${space}', 0))`;
