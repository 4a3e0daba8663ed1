import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { ensureBuilt } from './build.mjs';
import { root } from './exclusive.mjs';
import { ensureInstalled } from './install.mjs';
import { program } from './program.mjs';

const TEMPORARY = join(root, '.cache/api-reports');
/** Shared between our own packages, and no promise to users. */
const INTERNAL = /\/internal\b/;

/**
 * One report of the public surface for each entry of each published library, kept in git: a change of it shows in the diff.
 * @param {{ update?: boolean }} [options] whether reports that differ are written
 * @returns {Promise<string[]>} a sentence for each that differed
 */
export async function apiReports({ update = false } = {}) {
  const { CompilerState, Extractor } = createRequire(import.meta.url)('@microsoft/api-extractor');
  const entries = publicEntries();
  const configs = entries.map(configOf);
  const [first] = configs;
  const additionalEntryPoints = entries.map(({ types }) => types);
  const compilerState = CompilerState.create(first, { additionalEntryPoints });
  const told = [];
  for (const [n, config] of configs.entries()) {
    const messageCallback = (message) => {
      message.handled = true;
      if (message.logLevel === 'error') told.push(`${entries[n]?.entry}: ${message.text}`);
    };
    Extractor.invoke(config, { localBuild: true, compilerState, messageCallback });
    const { report, written } = entries[n] ?? {};
    const [now, before] = [read(written), read(report)];
    if (now === before) continue;
    told.push(`${report.slice(root.length + 1)} differs from the sources; run "npm run api" and look at its diff.`);
    if (update) writeFileSync(report, now);
  }
  return [...told, ...superfluous(entries, update)];
}

function read(file) {
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}

function publicEntries() {
  const libs = readdirSync(join(root, 'libs')).filter((lib) => existsSync(join(root, 'libs', lib, 'package.json')));
  return libs.flatMap((lib) => {
    const folder = join(root, 'libs', lib);
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    if (manifest.private) return [];
    const paths = Object.keys(manifest.exports).filter((path) => !INTERNAL.test(path) && manifest.exports[path].types);
    return paths.map((path) => {
      const name = path === '.' ? 'index' : path.slice(2).replaceAll('/', '-');
      return {
        entry: join(manifest.name, path),
        folder,
        types: join(folder, manifest.exports[path].types),
        report: join(folder, 'api', `${name}.md`),
        written: join(TEMPORARY, lib, `${name}.api.md`),
      };
    });
  });
}

function configOf({ folder, types, report, written }) {
  const { ExtractorConfig } = createRequire(import.meta.url)('@microsoft/api-extractor');
  mkdirSync(dirname(report), { recursive: true });
  mkdirSync(dirname(written), { recursive: true });
  const off = { logLevel: 'none' };
  return ExtractorConfig.prepare({
    packageJsonFullPath: join(folder, 'package.json'),
    configObject: {
      projectFolder: folder,
      mainEntryPointFilePath: types,
      compiler: { tsconfigFilePath: join(root, 'tsconfig.base.json') },
      newlineKind: 'lf',
      apiReport: {
        enabled: true,
        reportFileName: written.split('/').at(-1),
        reportFolder: dirname(written),
        reportTempFolder: join(dirname(written), 'temp'),
        includeForgottenExports: false,
      },
      docModel: { enabled: false },
      dtsRollup: { enabled: false },
      tsdocMetadata: { enabled: false },
      messages: {
        compilerMessageReporting: { default: off },
        extractorMessageReporting: { default: off },
        tsdocMessageReporting: { default: off },
      },
    },
    configObjectFullPath: undefined,
  });
}

/** Reports of entries that there are no more. */
function superfluous(entries, update) {
  const wanted = new Set(entries.map(({ report }) => report));
  const folders = [...new Set(entries.map(({ report }) => dirname(report)))];
  const found = folders.flatMap((folder) => readdirSync(folder).map((file) => join(folder, file)));
  const left = found.filter((file) => !wanted.has(file));
  if (update) for (const file of left) rmSync(file);
  return left.map((file) => `${file.slice(root.length + 1)} is the report of no entry; run "npm run api".`);
}

/** Writes the reports that differ. */
await program(import.meta.url, async () => {
  await ensureInstalled();
  await ensureBuilt();
  for (const line of await apiReports({ update: true })) console.error(line);
});
