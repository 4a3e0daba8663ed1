import { ensureBuilt } from '../scripts/build.mjs';
import { ensureInstalled } from '../scripts/install.mjs';
import { program } from '../scripts/program.mjs';
import { HELP, readOptions } from './run/options.mjs';

/** What a fence and a record cost a run, against a bare BullMQ worker in the same run. */
await program(import.meta.url, async (args) => {
  const options = readOptions(args);
  if (options.help) return console.log(HELP);
  await ensureInstalled();
  await ensureBuilt();
  // Not before the build: it imports what is built.
  const { runCases } = await import('./run/run-cases.mjs');
  const result = await runCases(options, options.json ? console.error : console.log);
  console.log(JSON.stringify(result));
  return result.ok ? 0 : 1;
});
