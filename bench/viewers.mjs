import { ensureBuilt } from '../scripts/build.mjs';
import { ensureInstalled } from '../scripts/install.mjs';
import { program } from '../scripts/program.mjs';
import { HELP, readOptions } from './viewers/options.mjs';

/** What people who look at a scheduler pod cost the crons that it acts for: against a calm window in the same run. */
await program(import.meta.url, async (args) => {
  const options = readOptions(args);
  if (options.help) return console.log(HELP);
  await ensureInstalled();
  await ensureBuilt();
  // Not before the build: it imports what is built.
  const { run } = await import('./viewers/run.mjs');
  const result = await run(options, options.json ? console.error : console.log);
  console.log(JSON.stringify(result));
  return result.ok ? 0 : 1;
});
