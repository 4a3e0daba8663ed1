import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureBuilt } from './build.mjs';
import { root } from './exclusive.mjs';
import { ensureInstalled } from './install.mjs';
import { program } from './program.mjs';

const HELP = `npm run charts -- [options]

Renders ops/kubernetes with kubectl's kustomize, compares it with the schemas of Kubernetes and with the code, and carries out both
Dockerfiles without Docker: every step, and then the program as a user that can write nothing. No cluster is needed.

  --no-images   without the Dockerfiles, which take minutes
  --json        only the closing line on stdout
  -h, --help    this

The last line is {"ok","seconds","overlays","objections","images"}. Exit code 1 when something is wrong.`;

const PACKED = ['libs/schedule', 'libs/lease', 'libs/ledger', 'libs/jobs', 'libs/operations'];

await program(import.meta.url, async (args) => {
  const flag = { type: 'boolean', default: false };
  const options = { 'no-images': flag, json: flag, help: { ...flag, short: 'h' } };
  const { values } = parseArgs({ args, options });
  if (values.help) return console.log(HELP);
  const since = performance.now();
  await ensureInstalled();
  await ensureBuilt({ pods: true });
  const { overlays, objects, objections } = await checkManifests();
  const images = values['no-images'] ? null : await checkImages(objects, objections);
  for (const line of objections) console.error(line);
  const seconds = Math.round((performance.now() - since) / 1_000);
  console.log(JSON.stringify({ ok: objections.length === 0, seconds, overlays, objections, images }));
  return objections.length === 0 ? 0 : 1;
});

async function checkManifests() {
  const { render } = await import('./charts/kubectl.mjs');
  const { againstRules } = await import('./charts/rules.mjs');
  const { againstSchemas, nameOf } = await import('./charts/schemas.mjs');
  const names = readdirSync(join(root, 'ops/kubernetes/overlays'));
  const rendered = names.map((name) => [name, render(`overlays/${name}`)]);
  const objects = rendered.flatMap(([, list]) => list);
  const facts = await factsOfCode();
  const objections = [...(await againstSchemas(objects)), ...rendered.flatMap(([, list]) => againstRules(list, facts))];
  const overlays = Object.fromEntries(rendered.map(([name, list]) => [name, list.map(nameOf)]));
  return { overlays, objects, objections };
}

async function factsOfCode() {
  const { podVariables } = await import('./charts/rules.mjs');
  const { jobsSettings } = await import('../libs/jobs/dist/nest/options.js');
  const { CLOSING_MS } = await import('../libs/pod/dist/index.js');
  const { METRICS } = await import('../libs/operations/dist/metrics/index.js');
  return {
    stopsWithinMs: (drainDeadline) =>
      jobsSettings({ redis: 'redis://r', ...(drainDeadline && { drainDeadline }) }).drainDeadlineMs + CLOSING_MS,
    variables: podVariables(),
    metrics: new Set(Object.values(METRICS).map(({ name }) => name)),
  };
}

/** Both images, with a Redis, and what each answers to everything that the manifests ask of it. */
async function checkImages(objects, objections) {
  const { startRedis } = await import('./redis.mjs');
  const { newToken } = await import('../libs/operations/dist/access-tokens.js');
  const { askedOf } = await import('./charts/rules.mjs');
  const redis = await startRedis();
  const work = mkdtempSync(join(tmpdir(), 'fencepost-images-'));
  chmodSync(work, 0o755);
  try {
    const { line, secret } = newToken('prometheus', 'viewer');
    const paths = new Map(askedOf(objects).map(({ path, authorized }) => [path, authorized ? secret : undefined]));
    const asked = [...paths].map(([path, token]) => ({ path, token }));
    const env = { REDIS_URL: redis.url, FENCEPOST_TOKENS: line };
    const ours = join(work, 'ours');
    const build = { dockerfile: join(root, 'ops/docker/Dockerfile'), context: root, into: ours };
    const own = ownWorker(join(work, 'context'));
    return {
      fencepost: await tried(build, { env, asked, objections }),
      'worker-image': await tried({ ...own, into: join(work, 'own') }, { env, asked, objections }),
    };
  } finally {
    await redis.stop();
    rmSync(work, { recursive: true, force: true });
  }
}

async function tried(build, { env, asked, objections }) {
  const { replay, tryImage } = await import('./charts/replay.mjs');
  const since = performance.now();
  const answers = await tryImage(replay({ ...build, log: console.error }), { env, asked });
  for (const [what, answer] of Object.entries(answers)) {
    if (answer !== (what === 'exit' ? 0 : 200)) objections.push(`${build.dockerfile}: ${what} gave ${answer}.`);
  }
  return { ...answers, seconds: Math.round((performance.now() - since) / 1_000) };
}

/** The example of a user's own worker, on our packages as they would be published. */
function ownWorker(context) {
  cpSync(join(root, 'examples/worker-image'), context, { recursive: true });
  const packed = join(context, '..', 'packed');
  mkdirSync(packed);
  const manifest = JSON.parse(readFileSync(join(context, 'package.json'), 'utf8'));
  for (const folder of PACKED) {
    const args = ['pack', '--json', '--loglevel=error', '--pack-destination', packed];
    const [{ name, filename }] = JSON.parse(execFileSync('npm', args, { cwd: join(root, folder), encoding: 'utf8' }));
    manifest.dependencies[name] = `file:${join(packed, filename)}`;
  }
  // Its newest release names platform packages that are not everywhere; ours is held back too.
  const { overrides } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  manifest.overrides = { 'msgpackr-extract': overrides['msgpackr-extract'] };
  writeFileSync(join(context, 'package.json'), JSON.stringify(manifest, null, 2));
  const lock = ['install', '--package-lock-only', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error'];
  execFileSync('npm', lock, { cwd: context, stdio: 'inherit' });
  execFileSync('git', ['init', '-q'], { cwd: context });
  return { dockerfile: join(context, 'Dockerfile'), context };
}
