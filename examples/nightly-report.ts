import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { JobsModule, SingletonCron, type RunContext } from '@fencepost/jobs';

const redis = process.env.REDIS_URL ?? 'redis://localhost:6379';
const send = async (mail: object) => console.log(JSON.stringify(mail)); // your mail provider

@Injectable()
export class Reports {
  @SingletonCron('0 3 * * *', { name: 'nightly-report', timeZone: 'Europe/Berlin', timeout: '10m' })
  async nightly(run: RunContext): Promise<void> {
    const text = await run.effect('render', () => `Report of ${run.scheduledAt.toISOString()}`);
    await run.effect('send', ({ idempotencyKey, fence }) => send({ text, idempotencyKey, fence }));
  }
}

@Module({
  imports: [JobsModule.forRoot({ roles: ['scheduler', 'worker'], redis })],
  providers: [Reports],
})
export class AppModule {}

export async function main(): Promise<void> {
  const app = await NestFactory.create(AppModule);
  app.enableShutdownHooks(); // a deploy waits for the runs that are under way
  await app.listen(process.env.PORT ?? 3000);
}
