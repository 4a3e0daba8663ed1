import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { Module, type INestApplication, type LoggerService } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ConsoleModule } from '@fencepost/console';
import { JobsModule } from '@fencepost/jobs';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { freshPrefix, testRedis } from '../support/redis.js';

const apps: INestApplication[] = [];
afterEach(async () => {
  vi.unstubAllEnvs();
  await Promise.all(apps.splice(0).map((app) => app.close()));
});

const warnings: string[] = [];
const logger: LoggerService = { log: () => {}, error: () => {}, warn: (line) => void warnings.push(String(line)) };

async function started(auth?: 'none'): Promise<number> {
  const jobs = JobsModule.forRoot({ roles: ['worker'], redis: testRedis(), prefix: freshPrefix(), log: false });

  @Module({ imports: [jobs, ConsoleModule.forRoot({ path: '/crons', auth, jobs })] })
  class AppModule {}
  const app = await NestFactory.create(AppModule, { logger, abortOnError: false });
  apps.push(app);
  await app.listen(0, '127.0.0.1');
  return (app.getHttpServer().address() as AddressInfo).port;
}

/** What a proxy on the same machine sends to its upstream, written out. */
async function sent(port: number, lines: readonly string[]): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  return text(socket);
}

/** `proxy_pass http://127.0.0.1:PORT;` and nothing else. */
const nginx = (port: number) => [
  'POST /crons/api/crons/nightly/pause HTTP/1.0',
  `Host: 127.0.0.1:${port}`,
  ...['Connection: close', 'Content-Type: application/json', 'Content-Length: 14', '', '{"reason":"x"}'],
];

const forwarded = (port: number, header: string) => [
  'GET /crons/api/me HTTP/1.1',
  ...[`Host: localhost:${port}`, 'Connection: close', header],
];

describe('a console without auth', () => {
  it('does not start unless it is told to be open', async () => {
    await expect(started()).rejects.toThrow(/^ConsoleModule needs "auth".* reverse proxy .*auth: 'none'/);
    vi.stubEnv('NODE_ENV', 'production');
    await expect(started()).rejects.toThrow(/^ConsoleModule needs "auth"/);
  });

  it('starts in development, and says what is open, and to whom', async () => {
    vi.stubEnv('NODE_ENV', 'development');
    warnings.length = 0;
    await started();
    expect(warnings).toEqual([
      expect.stringMatching(
        /^Open without authentication: the page, the API and Bull Board at \/crons.* reverse proxy/,
      ),
    ]);
  });

  it('answers no request of a proxy that says it is one, or speaks as nginx does by default', async () => {
    const port = await started('none');
    expect(await sent(port, nginx(port))).toMatch(/^HTTP\/1\.1 403 [^]*"code":"FOREIGN_HOST"/);
    const headers = ['X-Real-IP: 10.0.0.7', 'Forwarded: for=10.0.0.7', 'Via: 1.1 proxy', 'X-Forwarded-Proto: https'];
    const answers = await Promise.all(headers.map((header) => sent(port, forwarded(port, header))));
    expect(answers.map((answer) => answer.slice(0, 12))).toEqual(headers.map(() => 'HTTP/1.1 403'));
    expect(await sent(port, forwarded(port, 'Accept: */*'))).toMatch(/^HTTP\/1\.1 200 [^]*"name":"local"/);
  });
});
