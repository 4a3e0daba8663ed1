import type { AddressInfo } from 'node:net';
import type { JobsModuleOptions } from '@fencepost/jobs';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { closeRedis, connectRedis } from '@fencepost/lease/redis';
import { newToken, type AccessRole } from '@fencepost/operations/access-tokens';
import type { PodEnvironment } from '@fencepost/pod';
import { SchedulerAppModule, type SchedulerAppOptions } from '../../apps/scheduler/src/scheduler-app.module.js';
import { freshPrefix, testRedis } from './redis.js';

type Given = Partial<Omit<PodEnvironment, 'jobs'>> &
  SchedulerAppOptions & {
    readonly redis?: string;
    readonly settings?: Pick<JobsModuleOptions, 'webhooks' | 'alarms' | 'keepRuns'>;
  };

export interface RunningApp {
  readonly app: NestExpressApplication;
  readonly url: string;
  readonly port: number;
  readonly prefix: string;
  /** A request with a role's token; `null`: without any. The console's paths are relative to it: `/api/crons`. */
  ask(path: string, init?: RequestInit & { readonly as?: AccessRole | null }): Promise<Response>;
  /** An order with a JSON body. */
  order(path: string, body: unknown, as?: AccessRole | null): Promise<Response>;
  close(): Promise<void>;
}

const MADE = {
  viewer: newToken('vera', 'viewer'),
  operator: newToken('otto', 'operator'),
  admin: newToken('anna', 'admin'),
};

/** The secret of each role's token. */
export const SECRETS = { viewer: MADE.viewer.secret, operator: MADE.operator.secret, admin: MADE.admin.secret };
export const TOKENS = Object.values(MADE)
  .map(({ line }) => line)
  .join(',');

/** The scheduler app as its program puts it together, on a free port of loopback. Without `access`: with one token a role. */
export async function startSchedulerApp(given: Given = {}): Promise<RunningApp> {
  const { authenticate, redis = testRedis(), settings = {}, ...environment } = given;
  const prefix = freshPrefix();
  const jobs = { redis, prefix, pod: 'scheduler-1', ...settings };
  const whole = {
    host: '127.0.0.1',
    port: 0,
    logLevel: 'silent',
    pod: undefined,
    access: { tokens: TOKENS },
    ...environment,
  };
  const module = await SchedulerAppModule.forRoot({ ...whole, jobs }, { ...(authenticate && { authenticate }) });
  const app = await NestFactory.create<NestExpressApplication>(module, {
    logger: false,
    abortOnError: false,
    forceCloseConnections: true,
    bodyParser: false,
  });
  await app.listen(0, '127.0.0.1');
  const { port } = app.getHttpServer().address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  const ask: RunningApp['ask'] = (path, { as = 'viewer', ...init } = {}) =>
    fetch(`${url}${placeOf(path)}`, {
      redirect: 'manual',
      ...init,
      headers: { ...(as && { authorization: `Bearer ${SECRETS[as]}` }), ...(init.headers as Record<string, string>) },
    });
  return {
    ...{ app, url, port, prefix, ask },
    order: (path, body, as = 'operator') =>
      ask(path, { as, method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    close: async () => {
      await app.close();
      await clear(redis, prefix);
    },
  };
}

/** The pod's own paths are the others. */
function placeOf(path: string): string {
  return /^\/(crons|health|metrics)\b/.test(path) ? path : `/crons${path}`;
}

async function clear(url: string, prefix: string): Promise<void> {
  const redis = await connectRedis({ url, commandTimeoutMs: 5_000, name: 'test' });
  const keys = await redis.keys(`*${prefix}*`);
  if (keys.length > 0) await redis.del(keys);
  await closeRedis(redis);
}
