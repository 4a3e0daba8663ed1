import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureBuilt } from './build.mjs';
import { root } from './exclusive.mjs';
import { ensureInstalled } from './install.mjs';
import { program } from './program.mjs';
import { contradictions, manifests, published } from './release/manifests.mjs';

const BUDGETS = 'scripts/release/budgets.json';
const SBOM = '.cache/release/sbom.cdx.json';
const HELP = `npm run release -- [options]

Builds, compares versions and manifests, packs every public package as npm would publish it, holds its size against
${BUDGETS}, and writes the list of everything it is made of and built with to ${SBOM} (CycloneDX).

  --dry-run     publishes nothing: the default outside of the workflow "release"
  --json        only the closing line on stdout
  -h, --help    this

The last line is {"ok","version","published","packages":[{"name","files","bytes","budget"}],"components","objections"}. Exit code 1
when something is wrong, before anything is published.`;

await program(import.meta.url, async (args) => {
  const flag = { type: 'boolean', default: false };
  const options = { 'dry-run': flag, json: flag, help: { ...flag, short: 'h' } };
  const { values } = parseArgs({ args, options });
  if (values.help) return console.log(HELP);
  // Only there can npm learn from GitHub who publishes; a person's own token has no provenance.
  const publishes = !values['dry-run'] && process.env.ACTIONS_ID_TOKEN_REQUEST_URL !== undefined;
  if (!values['dry-run'] && !publishes) throw new Error('Only the workflow "release" publishes; here, give --dry-run.');
  await ensureInstalled();
  await ensureBuilt();
  const all = manifests();
  const packages = published(all).map(([folder, { name }]) => dryRun(folder, name));
  const components = writeSbom();
  const objections = [...contradictions(all), ...packages.flatMap(({ objection }) => objection)];
  const ok = objections.length === 0;
  if (ok && publishes) for (const [folder] of published(all)) publish(folder);
  for (const line of objections) console.error(line);
  const version = all['package.json']?.version;
  const shown = packages.map(({ name, files, bytes, budget }) => ({ name, files, bytes, budget }));
  console.log(JSON.stringify({ ok, version, published: ok && publishes, packages: shown, components, objections }));
  return ok ? 0 : 1;
});

/** What npm would send, and what is wrong with it. */
function dryRun(folder, name) {
  const { status, stdout, stderr } = npm(['publish', '--dry-run', '--json'], join(root, folder));
  if (status !== 0)
    return { name, files: 0, bytes: 0, budget: 0, objection: [`${name}: "npm publish" fails: ${stderr}`] };
  const said = JSON.parse(stdout.slice(stdout.indexOf('{')));
  const { size, files, entryCount } = said[name] ?? said;
  const budget = JSON.parse(readFileSync(join(root, BUDGETS), 'utf8'))[name] ?? 0;
  const paths = files.map(({ path }) => path);
  const objection = [
    ...(size > budget ? [`${name} is ${size} bytes packed, and ${BUDGETS} allows ${budget}.`] : []),
    ...['README.md', 'LICENSE'].filter((file) => !paths.includes(file)).map((file) => `${name} has no ${file}.`),
    ...paths.filter((path) => /\.(spec|stage)\.|^src\//.test(path)).map((path) => `${name} would publish ${path}.`),
  ];
  return { name, files: entryCount, bytes: size, budget, objection };
}

function publish(folder) {
  execFileSync('npm', ['publish', '--provenance', '--access', 'public'], { cwd: join(root, folder), stdio: 'inherit' });
}

/** With the tools of the build, which npm marks as such. @returns {number} how many packages it lists */
function writeSbom() {
  const { status, stdout, stderr } = npm(['sbom', '--sbom-format', 'cyclonedx'], root);
  if (status !== 0) throw new Error(`"npm sbom" fails: ${stderr}`);
  mkdirSync(join(root, '.cache/release'), { recursive: true });
  writeFileSync(join(root, SBOM), stdout);
  return JSON.parse(stdout).components.length;
}

function npm(args, cwd) {
  return spawnSync('npm', [...args, '--loglevel=error'], { cwd, encoding: 'utf8', maxBuffer: 1 << 27 });
}
