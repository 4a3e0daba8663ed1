import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Cron, ScheduleModule } from '@nestjs/schedule';
import { nearestInstant, say, told } from './report.js';

export interface Scheduled {
  readonly onInstant: (instant: number) => Promise<void>;
  readonly onStop: () => void;
}

/** An application with one cron that fires in every replica; who carries it out is settled by `onInstant`. */
export async function serveSchedule(name: string, { onInstant, onStop }: Scheduled): Promise<void> {
  const { expression, cadenceMs } = told();
  let atIt: Promise<void> = Promise.resolve();

  class Reports {
    @Cron(expression, { name: 'report', timeZone: 'UTC', waitForCompletion: true })
    run(): Promise<void> {
      const instant = nearestInstant(Date.now(), cadenceMs);
      // Nobody hears what a cron throws; an application logs it.
      atIt = onInstant(instant).catch((error: unknown) => say({ event: 'cron_failed', instant, error: String(error) }));
      return atIt;
    }

    /** Nest waits for this before the process ends: an instant that was begun is carried through. */
    async beforeApplicationShutdown(): Promise<void> {
      await atIt;
    }

    onApplicationShutdown(): void {
      onStop();
    }
  }

  @Module({ imports: [ScheduleModule.forRoot()], providers: [Reports] })
  class App {}

  const app = await NestFactory.createApplicationContext(App, { logger: false });
  app.enableShutdownHooks();
  say({ msg: `${name} listens on its timer` });
}
