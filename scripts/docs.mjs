import { cpSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join, posix } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureBuilt } from './build.mjs';
import { root } from './exclusive.mjs';
import { ensureInstalled } from './install.mjs';
import { program } from './program.mjs';
import { listen } from './tool.mjs';

const OUT = join(root, '.cache/docs');
const HELP = `npm run docs -- [options]

Builds the site of docs/ into .cache/docs: pages, READMEs of the packages, limits from the options, API reference from the declarations,
search, llms.txt. A link to a page or a heading that does not exist fails it. To look at it: npx vitepress preview .cache/site.

  --json        only the closing line on stdout
  -h, --help    this

The last line is {"ok","seconds","pages","apiPages","links","dead"}. Exit code 1 when a link is dead.`;

await program(import.meta.url, async (args) => {
  const flag = { type: 'boolean', default: false };
  const { values } = parseArgs({ args, options: { json: flag, help: { ...flag, short: 'h' } } });
  if (values.help) return console.log(HELP);
  const since = performance.now();
  await ensureInstalled();
  await ensureBuilt();
  const { SITE, stageSite } = await import('./docs/stage.mjs');
  const { writeApi } = await import('./docs/api.mjs');
  const pages = await stageSite();
  const api = await writeApi();
  const { well, said } = listen('vitepress', ['build', SITE]);
  if (!well) console.error(said);
  rmSync(OUT, { recursive: true, force: true });
  if (well) cpSync(join(SITE, '.vitepress/dist'), OUT, { recursive: true });
  const { links, dead } = well ? followLinks() : { links: 0, dead: ['The site was not built.'] };
  for (const line of dead) console.error(line);
  const seconds = Math.round((performance.now() - since) / 1_000);
  const ok = dead.length === 0;
  console.log(JSON.stringify({ ok, seconds, pages: pages.length, apiPages: api.length, links, dead }));
  return ok ? 0 : 1;
});

/** VitePress itself looks for pages, and not for the headings in them. */
function followLinks() {
  const files = readdirSync(OUT, { recursive: true, encoding: 'utf8' });
  const html = new Map(
    files.filter((file) => file.endsWith('.html')).map((file) => [file, readFileSync(join(OUT, file), 'utf8')]),
  );
  const ids = new Map(
    [...html].map(([file, text]) => [file, new Set([...text.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id))]),
  );
  const links = [...html].flatMap(([file, text]) =>
    [...text.matchAll(/<a [^>]*href="([^"]+)"/g)].map(([, href = '']) => ({ file, href })),
  );
  const own = links.filter(({ href }) => !/^[a-z]+:/.test(href));
  const dead = own
    .filter(({ file, href }) => !leads(file, href, { ids, files }))
    .map(({ file, href }) => `${file} links to ${href}.`);
  return { links: own.length, dead: [...new Set(dead)] };
}

function leads(file, href, { ids, files }) {
  const [path = '', anchor] = decodeURI(href).split('#');
  const base = path === '' ? file : path.startsWith('/') ? path.slice(1) : posix.join(posix.dirname(file), path);
  const found = [base, `${base}.html`, posix.join(base, 'index.html'), base.replace(/\.md$/, '.html')].find((one) =>
    files.includes(one),
  );
  if (found === undefined) return false;
  return anchor === undefined || anchor === '' || !ids.has(found) || ids.get(found)?.has(anchor) === true;
}
