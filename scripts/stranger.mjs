import { parseArgs } from 'node:util';
import { ensureBuilt } from './build.mjs';
import { ensureInstalled } from './install.mjs';
import { program } from './program.mjs';

const HELP = `npm run stranger -- [options]

Does what a stranger does who follows the README: packs every public package, makes a Nest application in an empty folder, installs the
packages into it, types the example, adds the page, builds, tests, starts three replicas, waits for runs, opens the page in Chromium, asks
"npx fencepost why", and stops. Needs a package registry, a Redis and a Chromium, which are found or fetched.

  --json        only the closing line on stdout
  -h, --help    this

The last line is {"ok","seconds","lines":{"example","own"},"steps":[{"name","seconds","lines"}],"replicas","instants","rows","why",
"ended","objections"}. Exit code 1 when something went wrong, took more than 300 s, or needed more than 10 lines of one's own.`;

await program(import.meta.url, async (args) => {
  const flag = { type: 'boolean', default: false };
  const { values } = parseArgs({ args, options: { json: flag, help: { ...flag, short: 'h' } } });
  if (values.help) return console.log(HELP);
  await ensureInstalled();
  await ensureBuilt();
  const { journey } = await import('./stranger/journey.mjs');
  const result = await journey(values.json ? console.error : console.log);
  console.log(JSON.stringify(result));
  return result.ok ? 0 : 1;
});
