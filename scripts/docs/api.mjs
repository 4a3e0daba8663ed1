import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { root } from '../exclusive.mjs';
import { publicEntries } from '../release/manifests.mjs';
import { SITE } from './stage.mjs';

/** Such as `ledger/run`, by `ledger/dist/run-record`. */
const IMPORTED = new Map(
  publicEntries().map(({ name, path, types }) => [
    types.replace(/^libs\//, '').replace(/(\/index)?\.d\.ts$/, ''),
    posix.join(name, path).replace('@fencepost/', ''),
  ]),
);

/**
 * One page for each public entry of each library, from its declarations.
 * @returns {Promise<string[]>} the pages
 */
export async function writeApi() {
  const { Application } = await import('typedoc');
  const entryPoints = publicEntries().map(({ types }) => join(root, types));
  // TypeDoc reads only what a project names.
  const tsconfig = join(SITE, 'tsconfig.json');
  writeFileSync(tsconfig, JSON.stringify({ extends: join(root, 'tsconfig.base.json'), files: entryPoints }));
  const app = await Application.bootstrapWithPlugins(
    /** @type {any} */ ({
      plugin: ['typedoc-plugin-markdown'],
      entryPoints,
      tsconfig,
      compilerOptions: { noEmit: true, composite: false },
      skipErrorChecking: true,
      readme: 'none',
      disableGit: true,
      disableSources: true,
      excludeExternals: true,
      router: 'module',
      hideBreadcrumbs: true,
      hidePageHeader: true,
      entryFileName: 'index.md',
      validation: { notExported: false, invalidLink: false, invalidPath: false },
      outputs: [{ name: 'markdown', path: join(SITE, 'api') }],
      logLevel: 'Error',
    }),
  );
  const project = await app.convert();
  if (!project) throw new Error('TypeDoc could not read the declarations.');
  await app.generateOutputs(project);
  const folder = join(SITE, 'api');
  const pages = renamed(folder);
  const missing = [...IMPORTED.values()].filter((name) => !pages.includes(`${name}.md`));
  if (missing.length > 0) throw new Error(`TypeDoc has no page for ${missing.map(nameOf).join(', ')}.`);
  for (const page of pages) write(folder, page, existing(folder, page));
  return pages.map((page) => `api/${page}`);
}

/** TypeDoc counts a type and a value of one name as two headings, also where only the type is exported. */
function existing(folder, page) {
  const text = readFileSync(join(folder, page), 'utf8');
  return text.replaceAll(/\]\(([^)#\s]*)#(\w+)-1\)/g, (whole, target, anchor) => {
    const there = target === '' ? text : readFileSync(join(folder, posix.dirname(page), target), 'utf8');
    const headings = there.match(new RegExp(`^#+ ${anchor}$`, 'gim')) ?? [];
    return headings.length === 1 ? `](${target}#${anchor})` : whole;
  });
}

function write(folder, page, text) {
  mkdirSync(dirname(join(folder, page)), { recursive: true });
  writeFileSync(join(folder, page), text);
}

/** Modules are called after the folder of their declarations; people know them by what they import. */
function renamed(folder) {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.md'));
  return files.map((file) => {
    const page = pageOf(file);
    const text = readFileSync(join(folder, file), 'utf8');
    const titled = text.replaceAll(/(?<=^# |^- \[)[a-z]+\/dist(?:\/[\w-]+)*/gm, (name) => nameOf(pageOf(name)));
    const linked = titled.replaceAll(/\]\(([^)#\s]+\.md)/g, (_, target) => {
      const path = posix.relative(posix.dirname(page), pageOf(posix.join(posix.dirname(file), target)));
      return `](${path.startsWith('.') ? path : `./${path}`}`;
    });
    rmSync(join(folder, file));
    write(folder, page, linked);
    return page;
  });
}

/** Of the path of its declarations that of its import: also because VitePress leaves out folders called dist. */
function pageOf(file) {
  const [, declared = '', end = ''] = /^(.*?)(?:-1)?(\.md)?$/.exec(file) ?? [];
  return `${IMPORTED.get(declared) ?? declared}${end}`;
}

function nameOf(page) {
  return `@fencepost/${page}`;
}
