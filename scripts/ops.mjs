import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureBuilt } from './build.mjs';
import { root } from './exclusive.mjs';
import { ensureInstalled } from './install.mjs';
import { opsFiles, ownFiles } from './ops/files.mjs';
import { program } from './program.mjs';

const HELP = `npm run ops -- [options]

Writes what follows from the list of metrics: docs/metrics.md, the dashboard for Grafana, the alert rules for Prometheus and for the
Prometheus Operator. With --into it writes alerts.yml, prometheus-rule.yaml and fencepost.json, for a deployment of your own.

  --into <folder>     where to write them; the folder is made
  --runbook <url>     with --into: the page that runbook_url of each alert points to, instead of docs/operating.md of the repository;
                      the section is added, as in https://wiki.example.com/fencepost#no-pod
  --leases quorum     with --into: also what watches the servers of a quorum, for pods that keep the leases of crons on one
  -h, --help          this

Exit code 1 when an option is wrong; nothing is written then.`;

await program(import.meta.url, async (args) => {
  const text = { type: 'string' };
  const { values } = parseArgs({
    args,
    options: { into: text, runbook: text, leases: text, help: { type: 'boolean', default: false, short: 'h' } },
  });
  if (values.help) return console.log(HELP);
  const own = { runbook: runbookPage(values), onQuorum: isOnQuorum(values) };
  await ensureInstalled();
  await ensureBuilt();
  const lists = await import('../libs/operations/dist/metrics/index.js');
  if (values.into === undefined) write(root, await opsFiles(lists));
  else write(resolve(values.into), await ownFiles(lists, own));
});

/** The files of the repository are the same for everybody, so they take no other runbook. */
function runbookPage({ into, runbook }) {
  if (runbook === undefined) return undefined;
  if (into === undefined) throw new Error('Expected --into <folder> beside --runbook: the kept files keep theirs.');
  const isPage = URL.canParse(runbook) && /^https?:$/.test(new URL(runbook).protocol) && !runbook.includes('#');
  if (!isPage) throw new Error(`Expected --runbook with an http or https URL without "#", got "${runbook}".`);
  return runbook;
}

function isOnQuorum({ into, leases }) {
  if (leases === undefined) return false;
  if (into === undefined)
    throw new Error('Expected --into <folder> beside --leases: the kept files are without a quorum.');
  if (leases !== 'quorum') throw new Error(`Expected --leases quorum, got "${leases}".`);
  return true;
}

function write(folder, files) {
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
    console.error(`${file} is written.`);
  }
}
