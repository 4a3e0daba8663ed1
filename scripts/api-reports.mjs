import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { ensureBuilt } from './build.mjs';
import { root } from './exclusive.mjs';
import { ensureInstalled } from './install.mjs';
import { program } from './program.mjs';
import { publicEntries } from './release/manifests.mjs';

const TEMPORARY = join(root, '.cache/api-reports');

/** The types of the client are generated, and docs/openapi.json shows their changes. */
const isWritten = ({ name }) => name !== '@fencepost/client';

/**
 * One report of the public surface for each entry of each published library, kept in git: a change of it shows in the diff.
 * @param {{ update?: boolean }} [options] whether reports that differ are written
 * @returns {Promise<string[]>} a sentence for each that differed
 */
export async function apiReports({ update = false } = {}) {
  const { CompilerState, Extractor } = createRequire(import.meta.url)('@microsoft/api-extractor');
  const entries = publicEntries().filter(isWritten).map(reported);
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
    const [now, before] = [ordered(read(written)), read(report)];
    if (now === before) continue;
    const advice = update
      ? 'is written anew; look at its diff'
      : 'differs from the sources; run "npm run api" and look at its diff';
    told.push(`${report.slice(root.length + 1)} ${advice}.`);
    if (update) writeFileSync(report, now);
  }
  return [...told, ...superfluous(entries, update)];
}

function read(file) {
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}

/**
 * The compiler lists the values of a union in the order in which it met them, and that differs between a build of everything and
 * one of what has changed.
 */
function ordered(report) {
  const values = /(?:^ +("?)([\w-]+)\1: "\2";\n)+/gm;
  return report.replace(values, (lines) => [...lines.trimEnd().split('\n').toSorted(), ''].join('\n'));
}

function reported({ folder, name, path, types }) {
  const file = path === '.' ? 'index' : path.slice(2).replaceAll('/', '-');
  return {
    entry: join(name, path),
    folder: join(root, folder),
    types: join(root, types),
    report: join(root, folder, 'api', `${file}.md`),
    written: join(TEMPORARY, basename(folder), `${file}.api.md`),
  };
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
