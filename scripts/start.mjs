import { join } from 'node:path';
import { ensureBuilt } from './build.mjs';
import { runInFront } from './child.mjs';
import { root } from './exclusive.mjs';
import { ensureInstalled } from './install.mjs';
import { startPostgres } from './postgres.mjs';
import { program } from './program.mjs';
import { startRedis } from './redis.mjs';

const DEMO = join(root, 'apps/demo/dist/main.js');

/** From a fresh clone to the running demo. Nothing here writes to stdout: with --json that belongs to the demo's result. */
await program(import.meta.url, async (args) => {
  await ensureInstalled();
  await ensureBuilt();
  if (args.includes('--help') || args.includes('-h')) return (await runInFront([DEMO, ...args], process.env)).code;
  const redis = await startRedis({ log: (line) => console.error(line), appendOnly: true });
  const postgres = wantsPostgres(args) ? await startPostgres() : null;
  const how = process.env.DATABASE_URL ? 'DATABASE_URL' : 'a private one';
  const database = postgres ? { DATABASE_URL: postgres.url, FENCEPOST_POSTGRES_HOW: how } : {};
  const env = { ...process.env, REDIS_URL: redis.url, FENCEPOST_REDIS_HOW: redis.how, ...database };
  const { code } = await runInFront([DEMO, ...args], env);
  await postgres?.stop();
  await redis.stop();
  return code;
});

/** As the demo's own reader of options takes it. */
function wantsPostgres(args) {
  return args.some((arg, at) => arg === '--ledger=postgres' || (arg === '--ledger' && args[at + 1] === 'postgres'));
}
