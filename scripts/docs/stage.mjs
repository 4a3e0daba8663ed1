import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { root } from '../exclusive.mjs';
import { limitsPage } from './limits.mjs';
import { builtSources } from './sources.mjs';

const REPOSITORY = 'https://github.com/fencepost/fencepost';
export const SITE = join(root, '.cache/site');

/** Pages from outside of docs/, by where the site has them. */
const ELSEWHERE = {
  'CHANGELOG.md': 'changelog.md',
  'SECURITY.md': 'security.md',
  'CONTRIBUTING.md': 'contributing.md',
  'apps/cli/README.md': 'packages/cli.md',
  'apps/scheduler/README.md': 'packages/scheduler.md',
};

/**
 * Lays the site's pages into one folder: docs/, the READMEs of the packages, and what is generated. Their links lead from page to
 * page, and those to other files of the repository to GitHub.
 * @returns {Promise<string[]>} the pages
 */
export async function stageSite() {
  rmSync(SITE, { recursive: true, force: true });
  const pages = pagesByFile();
  cpSync(join(root, 'docs'), SITE, { recursive: true, filter: (file) => !file.endsWith('.md') });
  cpSync(join(root, 'libs/console/web/public'), join(SITE, 'public'), { recursive: true });
  for (const [file, page] of Object.entries(pages)) {
    write(page, linked(readFileSync(join(root, file), 'utf8'), { file, page, pages }));
  }
  const limits = await limitsPage(await builtSources());
  write('limits.md', linked(limits, { file: 'docs/limits.md', page: 'limits.md', pages }));
  for (const [name, text] of problemPages(readFileSync(join(root, 'docs/problems.md'), 'utf8'))) {
    write(`problems/${name}.md`, text);
  }
  const all = [...Object.values(pages), 'limits.md'];
  write('public/llms.txt', index(all));
  write('public/llms-full.txt', all.map((page) => readFileSync(join(SITE, page), 'utf8')).join('\n\n'));
  return all;
}

/**
 * A page for each section: what the `type` of a problem leads to.
 * @param {string} markdown
 * @returns {[name: string, text: string][]}
 */
function problemPages(markdown) {
  const sections = markdown.split(/^## /m).slice(1);
  return sections.map((section) => [section.split('\n', 1)[0] ?? '', `# ${section}\n[All problems](../problems.md)\n`]);
}

/** @returns {Record<string, string>} */
function pagesByFile() {
  const docs = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.md'),
  );
  const libs = readdirSync(join(root, 'libs')).filter((lib) => existsSync(join(root, 'libs', lib, 'README.md')));
  return {
    ...Object.fromEntries(docs.map((file) => [`docs/${file}`, file.replace(/README\.md$/, 'index.md')])),
    ...Object.fromEntries(libs.map((lib) => [`libs/${lib}/README.md`, `packages/${lib}.md`])),
    ...ELSEWHERE,
  };
}

/** @param {{ file: string, page: string, pages: Record<string, string> }} at */
function linked(markdown, { file, page, pages }) {
  return markdown.replaceAll(/\]\(([^)\s]+)\)/g, (whole, target) => {
    if (/^([a-z]+:|#|\/)/.test(target)) return whole;
    const [path = '', anchor] = target.split('#');
    const meant = posix.join(posix.dirname(file), path);
    return `](${moved(meant, { page, pages })}${anchor === undefined ? '' : `#${anchor}`})`;
  });
}

function moved(meant, { page, pages }) {
  const target =
    pages[meant] ?? (meant.startsWith('docs/') && !meant.endsWith('.md') ? meant.slice('docs/'.length) : undefined);
  if (target === undefined || target.endsWith('.json')) return `${REPOSITORY}/${kindOf(meant)}/main/${meant}`;
  const path = posix.relative(posix.dirname(page), target);
  return path.startsWith('.') ? path : `./${path}`;
}

function kindOf(path) {
  return existsSync(join(root, path)) && statSync(join(root, path)).isDirectory() ? 'tree' : 'blob';
}

/** As https://llmstxt.org describes. */
function index(pages) {
  const lines = pages.map((page) => {
    const [, title = page] = /^# (.+)$/m.exec(readFileSync(join(SITE, page), 'utf8')) ?? [];
    return `- [${title.replaceAll('`', '')}](/${page.replace(/(index)?\.md$/, '')})`;
  });
  const head = [
    '# Fencepost',
    '',
    '> Singleton cron for replicated NestJS services, with a fence that reaches the side effect.',
    '',
  ];
  return [...head, 'All pages in one file: [llms-full.txt](/llms-full.txt)', '', '## Pages', '', ...lines, ''].join(
    '\n',
  );
}

function write(page, text) {
  mkdirSync(dirname(join(SITE, page)), { recursive: true });
  writeFileSync(join(SITE, page), text);
}
