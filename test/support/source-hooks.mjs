/**
 * Hooks of Node's module loader: packages of this repository are read from their sources, and TypeScript is translated. What
 * was translated once is kept in .cache, by its content: most of a test program's start would be that.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const SOURCE = '@fencepost/source';
const CACHE = new URL('../../.cache/source/', import.meta.url);
const OPTIONS = { decorator: { legacy: true, emitDecoratorMetadata: true }, sourcemap: true };

/** What the translated text imports for its decorators; the package is part of the translator, and not installed. */
const HELPERS = '@oxc-project/runtime/helpers/';
const HELPER = {
  decorate: `export default function (decorators, target, key, given) {
    const of = arguments.length < 3 ? [] : [target, key];
    let result = of.length === 0 ? target : given === null ? Object.getOwnPropertyDescriptor(target, key) : given;
    for (const decorator of decorators.toReversed()) {
      result = (arguments.length === 3 ? decorator(...of) : decorator(...of, result)) || result;
    }
    if (arguments.length > 3 && result) Object.defineProperty(target, key, result);
    return result;
  }`,
  decorateMetadata: 'export default (key, value) => Reflect.metadata?.(key, value) ?? (() => {});',
  decorateParam: 'export default (index, decorator) => (target, key) => decorator(target, key, index);',
};

export async function resolve(specifier, context, nextResolve) {
  if (specifier.startsWith(HELPERS)) return { url: specifier.replace(HELPERS, 'helper:'), shortCircuit: true };
  const conditions = [...context.conditions, SOURCE];
  return nextResolve(sourceOf(specifier, context.parentURL) ?? specifier, { ...context, conditions });
}

/** The TypeScript beside the JavaScript that an import names. */
function sourceOf(specifier, parent) {
  if (!/^(\.|\/|file:)/.test(specifier) || !specifier.endsWith('.js') || parent?.includes('/node_modules/'))
    return null;
  const url = new URL(`${specifier.slice(0, -'.js'.length)}.ts`, parent);
  return existsSync(url) ? url.href : null;
}

export async function load(url, context, nextLoad) {
  const { protocol, pathname } = new URL(url);
  if (protocol === 'helper:') return { format: 'module', shortCircuit: true, source: HELPER[pathname] };
  if (!pathname.endsWith('.ts')) return nextLoad(url, context);
  return { format: 'module', shortCircuit: true, source: await translated(fileURLToPath(url)) };
}

async function translated(file) {
  const text = readFileSync(file, 'utf8');
  const kept = new URL(`${createHash('sha256').update(`${file}\0${text}`).digest('hex')}.js`, CACHE);
  if (existsSync(kept)) return readFileSync(kept, 'utf8');
  const { transformWithOxc } = await import('vite');
  const { code, map } = await transformWithOxc(text, file, OPTIONS);
  const mapping = Buffer.from(JSON.stringify(map)).toString('base64');
  const output = `${code}\n//# sourceMappingURL=data:application/json;base64,${mapping}\n`;
  mkdirSync(CACHE, { recursive: true });
  // Another process may be reading or writing the same.
  const own = new URL(`${kept.href}.${process.pid}`);
  writeFileSync(own, output);
  renameSync(own, kept);
  return output;
}
