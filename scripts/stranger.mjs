import { parseArgs } from 'node:util';
import { ensureBuilt } from './build.mjs';
import { ensureInstalled } from './install.mjs';
import { program } from './program.mjs';

const HELP = `npm run stranger -- [options]

Does what a stranger does who follows the README and getting started, in their order: packs every public package, makes a Nest
application in an empty folder, installs the packages into it, types the example, builds, tests, starts three replicas, types each command
of "See a run", doctor included, and stops; then adds the page, starts again and opens it in Chromium. Needs a package registry, a Redis
and a Chromium, which are found or fetched.

  --matrix      instead, the example in other versions of Node.js, NestJS, BullMQ and ioredis, in ES modules and CommonJS, with Vitest
                and Jest, and bundled by esbuild and ncc: each installed, compiled, imported by a test, booted, run once and stopped. Writes docs/support.json and
                the table of docs/support.md
  --only <a,b>  with --matrix, the combinations whose name contains one of these, such as node20 or bullmq5; the others' results stay
  --check       with --matrix, tries nothing: does the table agree with docs/support.json?
  --json        only the closing line on stdout
  -h, --help    this

The last line is {"ok","seconds","lines":{"example","own"},"steps":[{"name","seconds","lines"}],"replicas","instants","why",
"doctor","ended","rows","objections"}. Exit code 1 when something went wrong, took more than 300 s, or needed more than 10 lines of one's own. With
--matrix it is {"ok","cells":{name:{"ok","seconds","versions","reason"}},"failed"}, and 1 when a combination failed without a known
reason.`;

await program(import.meta.url, async (args) => {
  const { help, json, matrix, check, only } = readOptions(args);
  if (help) return console.log(HELP);
  await ensureInstalled();
  if (check) return checkTable();
  await ensureBuilt();
  const print = json ? console.error : console.log;
  const result = matrix ? await tryMatrix(only, print) : await walk(print);
  console.log(JSON.stringify(result));
  return result.ok ? 0 : 1;
});

function readOptions(args) {
  const flag = { type: 'boolean', default: false };
  const only = { type: 'string', default: '' };
  const flags = { json: flag, matrix: flag, check: flag, help: { ...flag, short: 'h' } };
  const { values } = parseArgs({ args, options: { ...flags, only } });
  if (values.matrix || !(values.check || values.only)) return values;
  throw new Error(`Expected --matrix beside ${values.check ? '--check' : '--only'}, got it alone.`);
}

async function checkTable() {
  const { objectionToPage } = await import('./stranger/support.mjs');
  const objection = objectionToPage();
  console.log(JSON.stringify({ ok: objection === null, objection }));
  return objection === null ? 0 : 1;
}

async function walk(print) {
  const { journey } = await import('./stranger/journey.mjs');
  return journey(print);
}

async function tryMatrix(only, print) {
  const { matrix } = await import('./stranger/matrix.mjs');
  return matrix(only, print);
}
