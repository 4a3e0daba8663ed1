import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { BUNDLES } from './bundle.mjs';
import { exclusively, root } from './exclusive.mjs';
import { ensureInstalled } from './install.mjs';
import { program } from './program.mjs';
import { tool } from './tool.mjs';

const COMMON = ['tsconfig.base.json', 'node_modules/.package-lock.json'];
/** A module that reads the Lua and SQL beside it; what is built has the texts themselves in its place, see `read-texts.ts`. */
const READER = /\/(lua|sql)\/texts\.ts$/;
const TEXT = /\.(lua|sql)$/;
const VERSION = /\/library-version\.ts$/;
const DOCUMENT = /\/open-api-document\.ts$/;
const PODS = 'test/pods';
const BUNDLER = 'scripts/bundle.mjs';
const WEB = 'libs/console/web';
const API_DOCUMENT = 'docs/openapi.json';
const CLIENT_TYPES = 'libs/client/src/api-types.ts';

/**
 * Builds libs, apps and the page when something they are made of has changed since the last build that went well; otherwise some
 * milliseconds. With `pods` also the programs that tests run as processes of their own. Types are checked by lint alone: checking them
 * here as well was more than half of the build.
 * @param {{ pods?: boolean }} [options]
 * @throws {Error} when the compiler could not write something, and has printed why
 */
export async function ensureBuilt({ pods = false } = {}) {
  await ensureGenerated();
  const parts = [workspaces(), ...(existsSync(join(root, WEB)) ? [web()] : []), bundles('apps')];
  if (pods) parts.push(testPods(), bundles('test-pods'));
  await buildOutdated(parts);
}

/**
 * Writes what is made from the API's document and not kept in git: the types of the client. Whoever compiles or checks the
 * sources without a build needs this first.
 */
export async function ensureGenerated() {
  if (existsSync(join(root, API_DOCUMENT))) await buildOutdated([clientTypes()]);
}

async function buildOutdated(parts) {
  if (parts.every(upToDate)) return;
  await exclusively('build', () => {
    for (const part of parts) if (!upToDate(part)) build(part);
  });
}

function clientTypes() {
  const sources = [API_DOCUMENT, 'node_modules/.package-lock.json'];
  const args = [API_DOCUMENT, '--output', CLIENT_TYPES];
  return { name: 'client types', sources, outputs: [CLIENT_TYPES], folders: [], tool: 'openapi-typescript', args };
}

function workspaces() {
  const roots = ['libs', 'apps'].flatMap(foldersIn).filter((folder) => existsSync(join(root, folder, 'tsconfig.json')));
  const sources = roots.flatMap((folder) => [
    ...filesIn(`${folder}/src`),
    `${folder}/package.json`,
    `${folder}/tsconfig.json`,
  ]);
  const outputs = roots.flatMap((folder) => outputsOf(`${folder}/src`, `${folder}/dist`));
  const folders = roots.map((folder) => `${folder}/dist`);
  const args = ['--build', '--noCheck', ...roots];
  return {
    name: 'workspaces',
    sources: [...COMMON, ...(existsSync(join(root, API_DOCUMENT)) ? [API_DOCUMENT] : []), ...sources],
    outputs,
    folders,
    tool: 'tsc',
    args,
    after: writeConstants,
  };
}

function foldersIn(group) {
  if (!existsSync(join(root, group))) return [];
  return readdirSync(join(root, group)).map((name) => `${group}/${name}`);
}

/** A compiled package reads no file beside itself: bundlers take modules along, and nothing else. */
function writeConstants({ sources }) {
  for (const source of sources) {
    if (READER.test(source)) writeCode(source, `export const TEXTS = ${textsBeside(source, sources)};\n`);
    if (VERSION.test(source)) writeCode(source, `export const libraryVersion = () => ${versionOf(source)};\n`);
    if (DOCUMENT.test(source)) writeCode(source, `export const openApiDocument = () => ${apiDocument()};\n`);
  }
}

function textsBeside(source, sources) {
  const folder = `${dirname(source)}/`;
  const files = sources.filter((file) => file.startsWith(folder) && TEXT.test(file)).toSorted();
  const texts = files.map((file) => [file.slice(folder.length), readFileSync(join(root, file), 'utf8')]);
  return JSON.stringify(Object.fromEntries(texts), null, 2);
}

/** One line, as it is sent. */
function apiDocument() {
  return JSON.stringify(JSON.stringify(JSON.parse(readFileSync(join(root, API_DOCUMENT), 'utf8'))));
}

function versionOf(source) {
  const manifest = source.replace(/\/src\/.*/, '/package.json');
  return JSON.stringify(JSON.parse(readFileSync(join(root, manifest), 'utf8')).version);
}

function writeCode(source, code) {
  const to = join(root, source.replace('/src/', '/dist/').replace(/\.ts$/, '.js'));
  writeFileSync(to, code);
  // It would lead a debugger to lines that are not there.
  rmSync(`${to}.map`, { force: true });
}

/** The page: its client is taken as it is written, so it does not wait for what is built of the libs. */
function web() {
  const written = filesIn(WEB).filter((file) => !file.startsWith(`${WEB}/dist/`));
  const sources = [...COMMON, ...written, ...filesIn('libs/client/src'), 'libs/client/package.json'];
  const args = ['build', WEB, '--logLevel', 'warn'];
  return {
    name: 'web',
    sources,
    outputs: ['index.html', 'docs.html'].map((page) => `${WEB}/dist/${page}`),
    folders: [`${WEB}/dist`],
    tool: 'vite',
    args,
  };
}

/** They compile against the declarations of the libs, so what makes those new makes these new. */
function testPods() {
  const sources = [...workspaces().sources, ...filesIn(PODS)];
  const outputs = outputsOf(PODS, 'test/dist/pods');
  const args = ['-p', `${PODS}/tsconfig.json`, '--noCheck'];
  return { name: 'pods', sources, outputs, folders: ['test/dist/pods'], tool: 'tsc', args };
}

/** What of an app or a test's pod runs as a process, with all it loads in few files: made of what the compiler wrote. */
function bundles(name) {
  const there = BUNDLES[name].filter(({ of }) => existsSync(join(root, of)));
  return {
    name: `bundles of ${name}`,
    sources: [...(name === 'apps' ? workspaces() : testPods()).sources, BUNDLER],
    outputs: there.flatMap(({ dir, input }) => Object.keys(input).map((entry) => `${dir}/${entry}.js`)),
    folders: there.map(({ dir }) => dir),
    tool: BUNDLER,
    args: [name],
  };
}

/** The programs only. */
function outputsOf(from, to) {
  const programs = filesIn(from).filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts'));
  return programs.map((file) => `${to}${file.slice(from.length, -'.ts'.length)}.js`);
}

/** Without the specs and their stages: they run from source, and editing one must not cost a build. */
function filesIn(folder) {
  if (!existsSync(join(root, folder))) return [];
  const entries = readdirSync(join(root, folder), { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && !/\.(spec|stage)\.ts$/.test(entry.name));
  return files.map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(root.length + 1));
}

function upToDate(part) {
  return missing(part).length === 0 && readStamp(part)?.hash === hashOf(part);
}

function missing({ outputs }) {
  return outputs.filter((file) => !existsSync(join(root, file)));
}

/** Times and sizes, not contents: reading everything at each start would be felt. */
function hashOf({ sources }) {
  const hash = createHash('sha256');
  for (const file of sources.toSorted()) {
    const stat = statSync(join(root, file), { throwIfNoEntry: false });
    hash.update(`${file}\0${stat?.mtimeMs}\0${stat?.size}\n`);
  }
  return hash.digest('hex');
}

function build(part) {
  if (part.outputs.length === 0) return;
  console.error(`Building the ${part.name} ...`);
  // The compiler keeps the output of a source that is gone, and holds an output that is gone for written: then from scratch.
  const vanished = readStamp(part)?.sources.some((file) => !part.sources.includes(file)) ?? true;
  if (vanished || missing(part).length > 0) {
    for (const folder of part.folders) rmSync(join(root, folder), { recursive: true, force: true });
  }
  // Before compiling: what is edited meanwhile counts as changed. And until it went well nothing counts as built.
  const hash = hashOf(part);
  writeStamp(part, null);
  if (!tool(part.tool, part.args)) {
    throw new Error(`The build failed: "${part.tool} ${part.args.join(' ')}" has printed why above.`);
  }
  part.after?.(part);
  const [lost] = missing(part);
  if (lost) throw new Error(`The build left out ${lost}; was another one running here? Build again.`);
  writeStamp(part, hash);
}

function writeStamp(part, hash) {
  const file = stampFile(part);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify({ hash, sources: part.sources }));
}

function readStamp(part) {
  return existsSync(stampFile(part)) ? JSON.parse(readFileSync(stampFile(part), 'utf8')) : undefined;
}

function stampFile({ name }) {
  return join(root, '.cache', `build-${name.replaceAll(' ', '-')}.json`);
}

await program(import.meta.url, async (args) => {
  await ensureInstalled();
  await ensureBuilt({ pods: args.includes('--pods') });
});
