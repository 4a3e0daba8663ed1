import { Command, Option } from 'commander';
import { EXIT, UsageError } from '../exit.js';
import { migrateLedger, planMigration } from '../jobs.js';
import type { Report } from '../report.js';
import { withPool } from '../store/postgres-pool.js';
import { databaseAddress, withDatabaseOptions } from '../store/store-options.js';
import { hanging } from '../table.js';
import type { Setting } from '../world.js';
import { type OutputFlags, withOutput } from '../output.js';

interface Flags extends OutputFlags {
  readonly postgres?: string;
  readonly schema?: string;
  readonly plan?: true;
  readonly check?: true;
  readonly down?: true;
}

const ABOUT =
  'Creates the tables of a ledger in PostgreSQL, or migrates them to this version. Several processes may do this at ' +
  'once, and pods keep running: those of older builds work on until a step contracts the tables beyond them.';

type Pool = Parameters<typeof migrateLedger>[0];
type Plan = Awaited<ReturnType<typeof planMigration>>;

export function migrateCommand({ world, answer }: Setting): Command {
  const command = new Command('migrate')
    .summary('create or migrate the PostgreSQL tables')
    .description(ABOUT)
    .addOption(new Option('--plan', 'show the steps, their phase and their locks; change nothing'))
    .addOption(
      new Option('--check', 'exit with 0 if this build can work with the tables, else with 1').conflicts('plan'),
    )
    .addOption(new Option('--down', 'go back by one version, if that loses nothing').conflicts(['plan', 'check']));
  return withOutput(withDatabaseOptions(command)).action(async (flags: Flags) => {
    // Whoever migrates means a database, and so a DATABASE_URL.
    const usual = world.env['DATABASE_URL'] ? { postgres: world.env['DATABASE_URL'] } : {};
    const address = databaseAddress({ ...usual, ...flags }, world);
    if (address === null)
      throw new UsageError('Expected --postgres (or DATABASE_URL), such as postgres://localhost/shop.');
    const { schema } = address;
    answer(await withPool(address, (pool) => reportOf(pool, schema, flags)), flags);
  });
}

async function reportOf(pool: Pool, schema: string, { plan, check, down }: Flags): Promise<Report> {
  if (plan || check) {
    const found = await planMigration(pool, { schema });
    return plan ? planReport(schema, found) : checkReport(schema, found);
  }
  const moved = await migrateLedger(pool, { schema, down: down ?? false });
  const said =
    moved.from === moved.to
      ? `The ledger in schema "${schema}" is of version ${moved.to} already.`
      : `The ledger in schema "${schema}" went from version ${moved.from} to ${moved.to}.`;
  return { code: EXIT.ok, json: { schema, ...moved }, text: (width) => hanging(said, width) };
}

function checkReport(schema: string, { from, to, refusal }: Plan): Report {
  const said = refusal ?? `This build works with the ledger in schema "${schema}", which is of version ${from}.`;
  const json = { schema, fits: refusal === null, version: from, expected: to, refusal };
  return { code: refusal === null ? EXIT.ok : EXIT.finding, json, text: (width) => hanging(said, width) };
}

function planReport(schema: string, plan: Plan): Report {
  const { from, to, minimum, steps, functions } = plan;
  const lines = [
    from === to
      ? `The ledger in schema "${schema}" is of version ${to} already.`
      : `The ledger in schema "${schema}" would go from version ${from === 0 ? '0 (none)' : from} to ${to}.`,
    ...steps.map(
      ({ version, name, phase, locks }) => `${version} ${name}: ${phase}${locks ? `; locks ${locks}` : ''}.`,
    ),
    ...(functions ? ['The functions of this build would be installed, beside those of others.'] : []),
    `Builds below version ${minimum} ${from === to ? 'begin' : 'would then begin'} nothing new.`,
  ];
  const text = (width: number) => lines.flatMap((line) => hanging(line, width));
  return { code: EXIT.ok, json: { schema, ...plan }, text };
}
