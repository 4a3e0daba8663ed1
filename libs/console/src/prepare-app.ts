import { StandardSchemaValidationPipe } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { SwaggerModule } from '@nestjs/swagger';
import { inputProblem } from './api/input-problem.js';
import { openApiOf } from './api/open-api.js';
import { ACCESS, type Access } from './auth/access.js';
import { AccessBoundary } from './auth/access-boundary.js';
import { requestLimit } from './http/request-limit.js';
import { securityHeaders } from './http/security-headers.js';
import { servePage } from './page/serve-page.js';

const MAX_BODY = '256kb';

/**
 * What stands before every route, in this order: headers, how often one may come, the access boundary, and only then a body is read.
 * Whatever serves something is added behind the access boundary.
 */
export function prepareApp(app: NestExpressApplication): void {
  const { trustProxy, rateLimit } = app.get<Access>(ACCESS, { strict: false });
  app.disable('x-powered-by');
  app.set('trust proxy', trustProxy);
  app.use(securityHeaders());
  app.use(requestLimit(rateLimit));
  app.use(app.get(AccessBoundary, { strict: false }).enter);
  app.useBodyParser('json', { limit: MAX_BODY });
  app.useGlobalPipes(new StandardSchemaValidationPipe({ exceptionFactory: inputProblem }));
  SwaggerModule.setup('docs', app, () => openApiOf(app), {
    jsonDocumentUrl: 'docs/openapi.json',
    raw: ['json'],
    customSiteTitle: 'API · Fencepost',
  });
  servePage(app);
}
