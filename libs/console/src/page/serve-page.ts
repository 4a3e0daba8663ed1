import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { isReading, placeOf } from '../auth/open-places.js';
import type { Next, WebRequest, WebResponse } from '../http/web-request.js';
import { PAGE_FOLDER, shellOfPage } from './page-files.js';

const YEAR_MS = 365 * 24 * 3_600_000;

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
