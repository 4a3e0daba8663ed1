import 'reflect-metadata';
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { JobsModule, SingletonCron, type JobsModuleOptions, type Role } from '@fencepost/jobs';

/* The smallest process of a role, as a user writes one: `ROLE` and `OPTIONS` come from the environment. */

@Injectable()
class Nightly {
  @SingletonCron('0 3 * * *', { name: 'nightly', timeZone: 'Etc/UTC' })
  run(): void {}
}

const roles = (process.env['ROLE'] ?? '').split(',').filter(Boolean) as Role[];
const options = JSON.parse(process.env['OPTIONS'] ?? '{}') as JobsModuleOptions;

@Module({ imports: [JobsModule.forRoot({ roles, ...options })], providers: [Nightly] })
class AppModule {}

const app = await NestFactory.createApplicationContext(AppModule, { logger: ['error'], abortOnError: false });
app.enableShutdownHooks();
process.stdout.write('ready\n');
process.on('disconnect', () => void app.close());
