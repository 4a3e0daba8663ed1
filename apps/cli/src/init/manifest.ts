import { readFileSync } from 'node:fs';
import { UsageError } from '../exit.js';

/** The newest of the ranges that `@fencepost/jobs` is made for. */
const PEERS = { bullmq: '^6.7.0', ioredis: '^6.0.0' };

type Section = Readonly<Record<string, string>>;

interface Manifest {
  readonly type?: string;
  readonly dependencies?: Section;
  readonly devDependencies?: Section;
}

/** @throws {UsageError} outside of a Nest application */
export function readManifest(text: string | null): Manifest {
  const manifest = text === null ? null : parsed(text);
  if (manifest?.dependencies?.['@nestjs/core'] !== undefined) return manifest;
  throw new UsageError(
    `Expected a Nest application in this folder, found ${text === null ? 'no package.json' : 'a package.json without @nestjs/core'}. ` +
      'Change to the folder of your application; "npx @nestjs/cli new app" makes one.',
  );
}

function parsed(text: string): Manifest {
  try {
    return Object(JSON.parse(text)) as Manifest;
  } catch (error) {
    throw new UsageError(`Cannot read package.json: ${error instanceof Error ? error.message : String(error)}.`);
  }
}

/** What is missing is added, in the version of this program; what is there stays as it is. */
export function withDependencies(text: string, { console }: { readonly console: boolean }): string {
  const manifest = parsed(text);
  const own = `^${ownVersion()}`;
  const wanted = { '@fencepost/jobs': own, ...(console && { '@fencepost/console': own }), ...PEERS };
  const { dependencies = {}, devDependencies = {} } = manifest;
  const present = new Set([...Object.keys(dependencies), ...Object.keys(devDependencies)]);
  const missing = (section: Section) => Object.entries(section).filter(([name]) => !present.has(name));
  const [added, addedDev] = [missing(wanted), missing({ fencepost: own })];
  if (added.length + addedDev.length === 0) return text;
  const changed = {
    ...manifest,
    ...(added.length > 0 && { dependencies: sorted(dependencies, added) }),
    ...(addedDev.length > 0 && { devDependencies: sorted(devDependencies, addedDev) }),
  };
  const indent = /^[^\S\n]+/m.exec(text)?.[0] ?? '  ';
  return JSON.stringify(changed, null, indent) + (text.endsWith('\n') ? '\n' : '');
}

/** As npm writes them. */
function sorted(section: Section, added: readonly [string, string][]): Section {
  return Object.fromEntries([...Object.entries(section), ...added].toSorted(([a], [b]) => a.localeCompare(b, 'en')));
}

function ownVersion(): string {
  const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(manifest) as { version: string }).version;
}
