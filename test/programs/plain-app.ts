import 'reflect-metadata';
import { setTimeout as wait } from 'node:timers/promises';
import { Logger, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Logger as PinoLogger, LoggerModule } from 'nestjs-pino';
import { JobsModule, logEvents, SingletonCron, Telemetry, type RunContext } from '@fencepost/jobs';
import { systemClock } from '@fencepost/lease';

/** An app as a new user writes it, with Nest's own logger or with nestjs-pino, and with nothing that is not needed for a cron to run. */
const { REDIS_URL: redis = '', PREFIX: prefix = '', HOOKS, PRINTS_MS = '1500', ...how } = process.env;
const { EMPTY, FAILS, LOGS, PINO, QUIET, NEST_11 } = how;

class Reports {
  @SingletonCron('* * * * * *', { name: 'report', retry: { attempts: 1 } })
  async report(run: RunContext): Promise<void> {
    if (FAILS) {
      console.log('failing');
      throw new Error(FAILS);
    }
    await run.effect('print', async () => {
      console.log('printing');
      await wait(Number(PRINTS_MS));
    });
    console.log(`printed ${run.id}`);
  }
}

@Module({
  imports: [
    JobsModule.forRoot({
      ...{ roles: ['scheduler', 'worker'], redis, prefix },
      ...(QUIET ? { log: false } : {}),
      undiscovered: EMPTY ? 'warn' : 'error',
    }),
    ...(PINO ? [LoggerModule.forRoot()] : []),
  ],
  providers: EMPTY ? [] : [Reports],
})
class AppModule {}

// Its logger knows no levels until an application names some, and logs all the same.
if (NEST_11) Logger.isLevelEnabled = () => false;
const app = await NestFactory.createApplicationContext(AppModule, { bufferLogs: PINO !== undefined });
if (PINO) app.useLogger(app.get(PinoLogger));
if (HOOKS) app.enableShutdownHooks(HOOKS === 'all' ? [] : HOOKS.split(','));
if (LOGS) {
  const line = (detail: Record<string, unknown>) => console.log(`own log: ${String(detail['event'])}`);
  logEvents(app.get(Telemetry), { debug: () => {}, info: () => {}, warn: line, error: line }, systemClock);
}
console.log('started');
