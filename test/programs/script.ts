import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { JobsModule, SingletonCron } from '@fencepost/jobs';

/** A program that imports the module of an application, roles included, and ends as a script or as a service does. */
const { REDIS_URL: redis = '', PREFIX: prefix = '', ENDS, SERVES, OFF } = process.env;

class Reports {
  @SingletonCron('* * * * * *', { name: 'report' })
  report(): void {}
}

@Module({
  imports: [JobsModule.forRoot({ roles: ['scheduler', 'worker'], redis, prefix, enabled: !OFF })],
  providers: [Reports],
})
class AppModule {}

async function create() {
  if (!SERVES) return NestFactory.createApplicationContext(AppModule);
  const server = await NestFactory.create(AppModule);
  await server.listen(0, '127.0.0.1');
  return server;
}

// Before the application is there, and so before any listener of its modules.
if (ENDS === 'in an earlier handler of its own that exits') process.on('SIGTERM', () => process.exit(0));
const app = await create();
const ends: Readonly<Record<string, () => unknown>> = {
  'by closing the application': () => app.close(),
  'by process.exit': () => process.exit(0),
  'with an error': async () => {
    process.exitCode = 3;
    await app.close();
  },
  'by process.exit with an error': () => process.exit(3),
  'in a handler of its own': () => process.on('SIGTERM', () => void app.close()),
};
await ends[ENDS ?? '']?.();
console.log('all is set up');
