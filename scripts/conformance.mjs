import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runInFront } from './child.mjs';
import { root } from './exclusive.mjs';
import { ensureInstalled } from './install.mjs';
import { program } from './program.mjs';

const HELP = `npm run conformance -- [options]

Does the same to two queues, one over the store of BullMQ and one over ours, and compares all of their keys: with the newest release
of each minor version of BullMQ 6 from the oldest on that the packages accept. With a version, it says whether that one could be accepted.

  --bullmq <version>  this one alone, such as 6.8.0
  --json              only the closing line on stdout; everything else goes to stderr
  -h, --help          this

The last line is {"ok","versions":[{"bullmq","conforms"}]}. Exit code 1 when one doesn't conform.`;

const SPECS = ['batching-backend', 'worker-backend'].map((name) => `libs/jobs/src/queue/${name}-on-bullmq.spec.ts`);

await program(import.meta.url, async (args) => {
  const flag = { type: 'boolean', default: false };
  const options = { bullmq: { type: 'string' }, json: flag, help: { ...flag, short: 'h' } };
  const { values } = parseArgs({ args, options });
  if (values.help) return console.log(HELP);
  await ensureInstalled();
  const versions = [];
  for (const bullmq of wanted(values.bullmq)) {
    const does = await conforms(bullmq);
    console.error(`BullMQ ${bullmq} ${does ? 'conforms' : 'does NOT conform'}.`);
    versions.push({ bullmq, conforms: does });
  }
  const ok = versions.length > 0 && versions.every(({ conforms: does }) => does);
  console.log(JSON.stringify({ ok, versions }));
  return ok ? 0 : 1;
});

/** @param {string | boolean | (string | boolean)[] | undefined} version */
function wanted(version) {
  if (version === undefined) return newestOfMinors();
  if (typeof version === 'string' && /^\d+\.\d+\.\d+/.test(version)) return [version];
  throw new Error(`Expected --bullmq as a version such as 6.8.0, got ${JSON.stringify(version)}.`);
}

/** @returns {string[]} from the oldest minor that the packages accept */
function newestOfMinors() {
  const { peerDependencies } = JSON.parse(readFileSync(join(root, 'libs/jobs/package.json'), 'utf8'));
  const least = Number(/\^6\.(\d+)/.exec(peerDependencies.bullmq)[1]);
  const newest = new Map();
  for (const version of JSON.parse(npm(root, 'view', 'bullmq', 'versions', '--json'))) {
    const [, minor, patch] = /^6\.(\d+)\.(\d+)$/.exec(version)?.map(Number) ?? [];
    if (minor >= least && patch >= (newest.get(minor) ?? 0)) newest.set(minor, patch);
  }
  return [...newest].toSorted(([a], [b]) => a - b).map(([minor, patch]) => `6.${minor}.${patch}`);
}

async function conforms(version) {
  const folder = mkdtempSync(join(tmpdir(), 'fencepost-bullmq-'));
  try {
    npm(folder, 'install', '--no-save', '--no-audit', '--no-fund', `bullmq@${version}`);
    const env = { ...process.env, FENCEPOST_BULLMQ: join(folder, 'node_modules/bullmq') };
    const { code, out } = await runInFront(['node_modules/vitest/vitest.mjs', 'run', ...SPECS], env, {
      stdout: 'pipe',
    });
    process.stderr.write(out);
    return code === 0;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function npm(cwd, ...args) {
  return execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
}
