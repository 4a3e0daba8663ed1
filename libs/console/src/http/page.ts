import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { openApiDocument } from './open-api-document.js';
import { isReading, placeOf, type Next, type WebRequest, type WebResponse } from './web-request.js';

/** Where the page was built to: from `src` and from `dist` the same way. Asked late: a bundle in CommonJS has no such address. */
function pageFile(name: string): string {
  return join(dirname(fileURLToPath(import.meta.url)), '../../web/dist', name);
}

const YEAR_MS = 365 * 24 * 3_600_000;

/** What is no address of the page. */
const NO_PAGE = /^\/(api|queues|docs|session|assets|openapi\.json)(\/|$)/i;

/** The HTML that every address of the page begins with, or that of the API's page; `null` where it was not built. */
function builtPage(name: 'index.html' | 'docs.html'): string | null {
  try {
    return readFileSync(pageFile(name), 'utf8');
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
  const html = builtPage('index.html');
  return html && pageAt(html, facts);
}

/** The OpenAPI document, and the page that shows it. */
export function serveApiPage(app: NestExpressApplication): void {
  const routes = app.getHttpAdapter();
  routes.get('/openapi.json', (_request: WebRequest, response: WebResponse) => {
    response.type('json').send(openApiDocument());
  });
  routes.get('/docs', (request: WebRequest, response: WebResponse) => {
    const html = builtPage('docs.html');
    if (html === null) return void response.status(404).type('text').send('The page was not built.');
    response.type('html').send(pageAt(html, { path: placeOf(request).path, hasBoard: false }));
  });
}

/** Our page: its files, and for every other address that is nobody else's the shell that finds its own way. */
export function servePage(app: NestExpressApplication, hasBoard: boolean): void {
  const assets = pageFile('assets');
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
    if (path === '/favicon.svg') return response.sendFile(pageFile('favicon.svg'));
    const shell = shellOfPage({ path, hasBoard });
    if (shell === null) return next();
    response.set({ 'Cache-Control': 'no-cache' }).type('html').send(shell);
  });
}
