import type { AddressInfo } from 'node:net';
import { NestFactory } from '@nestjs/core';
import { expect, it, vi } from 'vitest';
import { freshPrefix, testRedis } from '../support/redis.js';

it.each([undefined, 'none'])(
  'the example of an observed application answers probes, Prometheus and people with the roles %s',
  async (roles) => {
    vi.stubEnv('FENCEPOST_ROLES', roles);
    vi.stubEnv('REDIS_URL', testRedis());
    vi.stubEnv('FENCEPOST_PREFIX', freshPrefix());
    vi.stubEnv('FENCEPOST_TOKENS', undefined);
    const { AppModule } = await import('../../examples/observed-app.js');
    const app = await NestFactory.create(AppModule, { logger: false, abortOnError: false });
    try {
      await app.listen(0, '127.0.0.1');
      const url = `http://127.0.0.1:${(app.getHttpServer().address() as AddressInfo).port}`;
      const text = async (path: string) => (await fetch(url + path)).text();
      expect(JSON.parse(await text('/health/ready'))).toMatchObject({
        status: 'ok',
        info: { fencepost: { status: 'up', redis: 'up' } },
      });
      expect(await text('/metrics')).toContain('# TYPE fencepost_');
      expect(JSON.parse(await text('/crons/api/me'))).toMatchObject({ name: 'local', role: 'admin' });
    } finally {
      await app.close();
      vi.unstubAllEnvs();
    }
  },
);
