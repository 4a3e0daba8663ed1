import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { JobsModule, SingletonCron, type RunContext } from '@fencepost/jobs';
import { Mailer } from './mailer.js';

@Injectable()
export class Reports {
  constructor(private readonly mailer: Mailer) {}

  @SingletonCron('0 3 * * *', { name: 'nightly-report', timeZone: 'Europe/Berlin' })
  async nightly(run: RunContext): Promise<void> {
    const text = await run.effect('render', () => `Report of ${run.scheduledAt.toISOString()}`);
    await run.effect('send', ({ idempotencyKey, fence }) => this.mailer.send(text, { idempotencyKey, fence }));
  }
}

@Module({
  imports: [JobsModule.forRoot({ roles: ['scheduler', 'worker'], redis: 'redis://localhost:6379' })],
  providers: [Reports, Mailer],
})
export class AppModule {}

export async function main(): Promise<void> {
  const app = await NestFactory.create(AppModule);
  app.enableShutdownHooks(); // a deploy waits for the runs that are under way
  await app.listen(3000);
}
