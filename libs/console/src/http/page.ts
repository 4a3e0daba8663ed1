import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { isReading, placeOf, type Next, type WebRequest, type WebResponse } from './web-request.js';

/** Where the page was built to: from `src` and from `dist` the same way. */
const PAGE_FOLDER = join(dirname(fileURLToPath(import.meta.url)), '../../web/dist');
const YEAR_MS = 365 * 24 * 3_600_000;

/** The page's own HTML, which every address of it begins with; `null` where it was not built. */
export function shellOfPage(): string | null {
  try {
    return readFileSync(join(PAGE_FOLDER, 'index.html'), 'utf8');
  } catch {
    return null;
  }
}

/** Our page under `/crons`: its files, and for every other address below the shell that finds its own way. */
export function servePage(app: NestExpressApplication): void {
  const assets = join(PAGE_FOLDER, 'assets');
  if (existsSync(assets)) {
    // Their names change with what is in them.
    app.useStaticAssets(assets, {
      prefix: '/crons/assets',
      immutable: true,
      maxAge: YEAR_MS,
      fallthrough: true,
      index: false,
    });
  }
  app.use('/crons', (request: WebRequest, response: WebResponse, next: Next) => {
    const { method, path } = placeOf(request);
    if (!isReading(method)) return next();
    if (path === '/crons/favicon.svg') return response.sendFile(join(PAGE_FOLDER, 'favicon.svg'));
    const shell = path.startsWith('/crons/assets/') ? null : shellOfPage();
    if (shell === null) return next();
    response.set({ 'Cache-Control': 'no-cache' }).type('html').send(shell);
  });
}
