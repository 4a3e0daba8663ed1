import 'reflect-metadata';
import { setTimeout as wait } from 'node:timers/promises';
import { Module, type INestApplicationContext, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { JobsModule, SingletonCron, type RunContext } from '@fencepost/jobs';

/** What an image declares: the expression of each cron, by its name. */
export type ImageCrons = Readonly<Record<string, string>>;

/** Options of `JobsModule` that an image sets itself. */
export interface ImageOptions {
  readonly app?: string;
  readonly revision?: number;
}

const {
  REDIS_URL: redis = '',
  PREFIX: prefix = '',
  DATABASE,
  SCHEMA = '',
  ROLES = 'worker',
  CRASH_AFTER,
} = process.env;

/** Short, so that a test can wait them out. */
const TIMES = {
  leaseTtl: '1s',
  runLease: '1500ms',
  sweepEvery: '200ms',
  removeAfter: '3s',
  drainDeadline: '5s',
} as const;

/** The jobs of an image, a method each. Nothing is left out because a machine is slow: what counts is which definition was in force. */
function jobsOf(crons: ImageCrons): Type {
  class ImageJobs {
    readonly crons = crons;
  }
  for (const [name, expression] of Object.entries(crons)) {
    const value = async (run: RunContext): Promise<void> => {
      await run.effect('work', () => wait(10));
    };
    Object.defineProperty(ImageJobs.prototype, name, { value, configurable: true });
    const options = { name, overlap: 'allow', misfire: 'fire-all', maxCatchUp: 1_000, catchUpWindow: '10m' } as const;
    const descriptor = Object.getOwnPropertyDescriptor(ImageJobs.prototype, name);
    if (descriptor) SingletonCron<string>(expression, options)(ImageJobs.prototype, name, descriptor);
  }
  return ImageJobs;
}

/** Boots an application as a user writes one: `JobsModule` alone, Nest's own logger, shutdown hooks. */
export async function boot(crons: ImageCrons, options: ImageOptions = {}): Promise<INestApplicationContext> {
  const database = DATABASE ? { ledger: 'postgres', postgres: { url: DATABASE, schema: SCHEMA, migrate: true } } : {};
  const jobs = JobsModule.forRoot({
    roles: ROLES.split(',') as ('scheduler' | 'worker')[],
    redis,
    prefix,
    ...TIMES,
    ...(database as object),
    ...options,
  });

  @Module({ imports: [jobs], providers: [jobsOf(crons)] })
  class AppModule {}

  const app = await NestFactory.createApplicationContext(AppModule);
  app.enableShutdownHooks();
  console.log('started');
  if (CRASH_AFTER !== undefined) setTimeout(() => process.exit(1), Number(CRASH_AFTER));
  return app;
}
