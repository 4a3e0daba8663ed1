import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { isReading, placeOf, type Next, type WebRequest, type WebResponse } from './web-request.js';

/** Where the page was built to: from `src` and from `dist` the same way. */
const PAGE_FOLDER = join(dirname(fileURLToPath(import.meta.url)), '../../web/dist');
const YEAR_MS = 365 * 24 * 3_600_000;

/** What is no address of the page. */
const NO_PAGE = /^\/(api|queues|docs|session|assets|openapi\.json)(\/|$)/i;

/** The page's own HTML, which every address of it begins with; `null` where it was not built. */
function builtPage(): string | null {
  try {
    return readFileSync(join(PAGE_FOLDER, 'index.html'), 'utf8');
  } catch {
    return null;
  }
}

/**
 * From a path of the console up to where it is mounted, such as `../`. Relative, because the browser may know the console by
 * another path: proxies in front strip prefixes and add some.
 */
export function upFrom(path: string): string {
  const depth = path.split('/').length - 2;
  return depth > 0 ? '../'.repeat(depth) : './';
}

export interface PageFacts {
  /** Of the request that it answers, below the mount point. */
  readonly path: string;
  readonly hasBoard: boolean;
}

/** The page as it is answered at one of its addresses: it is told the way up, and its files are found from there. */
function pageAt(html: string, { path, hasBoard }: PageFacts): string {
  const up = upFrom(path);
  const facts = `data-up="${up}" data-board="${hasBoard ? 'yes' : 'no'}"`;
  return html.replaceAll('="./', `="${up}`).replace('<html ', `<html ${facts} `);
}

/** {@link pageAt} of the built page; `null` where it was not built. */
export function shellOfPage(facts: PageFacts): string | null {
  const html = builtPage();
  return html && pageAt(html, facts);
}

/** Our page: its files, and for every other address that is nobody else's the shell that finds its own way. */
export function servePage(app: NestExpressApplication, hasBoard: boolean): void {
  const assets = join(PAGE_FOLDER, 'assets');
  if (existsSync(assets)) {
    // Their names change with what is in them.
    app.useStaticAssets(assets, {
      prefix: '/assets',
      immutable: true,
      maxAge: YEAR_MS,
      fallthrough: true,
      index: false,
    });
  }
  app.use((request: WebRequest, response: WebResponse, next: Next) => {
    const { method, path } = placeOf(request);
    if (!isReading(method) || NO_PAGE.test(path)) return next();
    if (path === '/favicon.svg') return response.sendFile(join(PAGE_FOLDER, 'favicon.svg'));
    const shell = shellOfPage({ path, hasBoard });
    if (shell === null) return next();
    response.set({ 'Cache-Control': 'no-cache' }).type('html').send(shell);
  });
}
