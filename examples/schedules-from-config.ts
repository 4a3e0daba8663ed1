import { Inject, Injectable, Module } from '@nestjs/common';
import { ConfigModule, ConfigService } from '@nestjs/config';
import { NestFactory } from '@nestjs/core';
import { JobsModule, SingletonCron, type JobsModuleOptions, type JobsOptionsFactory } from '@fencepost/jobs';

@Injectable()
export class Reports {
  constructor(@Inject(ConfigService) private readonly config: ConfigService) {}

  // Called once, at boot. A variable that is not set is refused, unless the function has a default for it.
  @SingletonCron((self: Reports) => self.config.get('REPORT_CRON', '0 3 * * *'), {
    name: 'nightly-report',
    timeZone: (self: Reports) => self.config.getOrThrow('REPORT_TIME_ZONE'),
    disabled: (self: Reports) => self.config.get('REPORTS') === 'off', // a variable is a text, never a boolean
  })
  async nightly(): Promise<void> {}

  @SingletonCron({ name: 'poll', every: (self: Reports) => self.config.get('POLL_EVERY', '30s') })
  async poll(): Promise<void> {}
}

@Injectable()
export class JobsConfig implements JobsOptionsFactory {
  constructor(@Inject(ConfigService) private readonly config: ConfigService) {}

  createJobsOptions(): JobsModuleOptions {
    return { redis: this.config.getOrThrow('REDIS_URL'), prefix: this.config.get('PREFIX', 'fencepost') };
  }
}

@Module({
  imports: [
    ConfigModule.forRoot({ isGlobal: true }),
    JobsModule.forRootAsync({ roles: ['scheduler', 'worker'], useClass: JobsConfig }),
  ],
  providers: [Reports],
})
export class AppModule {}

export async function main(): Promise<void> {
  const app = await NestFactory.create(AppModule);
  app.enableShutdownHooks();
  await app.listen(process.env.PORT ?? 3000);
}
