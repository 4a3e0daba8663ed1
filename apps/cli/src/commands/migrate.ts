import { Command } from 'commander';
import { EXIT, UsageError } from '../exit.js';
import { migrateLedger } from '../jobs.js';
import { withPool } from '../store/postgres-pool.js';
import { databaseAddress, withDatabaseOptions } from '../store/store-options.js';
import { hanging } from '../table.js';
import type { Setting } from '../world.js';
import { type OutputFlags, withOutput } from '../output.js';

interface Flags extends OutputFlags {
  readonly postgres?: string;
  readonly schema?: string;
}

const ABOUT =
  'Creates the tables of a ledger in PostgreSQL, or migrates them to this version. Several processes may do this at ' +
  'once, and pods keep running.';

export function migrateCommand({ world, answer }: Setting): Command {
  const command = new Command('migrate').summary('create or migrate the PostgreSQL tables').description(ABOUT);
  return withOutput(withDatabaseOptions(command)).action(async (flags: Flags) => {
    // Whoever migrates means a database, and so a DATABASE_URL.
    const usual = world.env['DATABASE_URL'] ? { postgres: world.env['DATABASE_URL'] } : {};
    const address = databaseAddress({ ...usual, ...flags }, world);
    if (address === null)
      throw new UsageError('Expected --postgres (or DATABASE_URL), such as postgres://localhost/shop.');
    const { schema } = address;
    const moved = await withPool(address, (pool) => migrateLedger(pool, { schema }));
    const said =
      moved.from === moved.to
        ? `The ledger in schema "${schema}" is of version ${moved.to} already.`
        : `The ledger in schema "${schema}" went from version ${moved.from} to ${moved.to}.`;
    answer({ code: EXIT.ok, json: { schema, ...moved }, text: (width) => hanging(said, width) }, flags);
  });
}
