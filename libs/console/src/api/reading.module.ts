import { Inject, Module } from '@nestjs/common';
import type { DynamicModule, OnApplicationShutdown } from '@nestjs/common';
import { BullmqRunQueue, JOBS_SETTINGS, type JobsSettings } from '@fencepost/jobs/internal';
import { READS, type Reads } from '@fencepost/operations/internal';

/** The queue as pages read it. */
export const READ_QUEUE = Symbol('READ_QUEUE');

const MAX_TRIES = 5;

/** Provides `READ_QUEUE` over a connection that only pages use. */
@Module({})
export class ReadingModule implements OnApplicationShutdown {
  constructor(@Inject(READ_QUEUE) private readonly queue: BullmqRunQueue) {}

  /** @param pod the module that provides the stores */
  static on(pod: DynamicModule): DynamicModule {
    const readQueue = {
      provide: READ_QUEUE,
      inject: [READS, JOBS_SETTINGS],
      useFactory: ({ redis }: Reads, { prefix, tenant }: JobsSettings) => open({ redis, prefix, tenant }),
    };
    return { module: ReadingModule, imports: [pod], providers: [readQueue], exports: [pod, READ_QUEUE] };
  }

  async onApplicationShutdown(): Promise<void> {
    await this.queue.close();
  }
}

/** A start competes with itself for the processor, so the first answer may be read too late. */
async function open(options: Pick<Reads, 'redis'> & Pick<JobsSettings, 'prefix' | 'tenant'>): Promise<BullmqRunQueue> {
  for (let tries = 1; ; tries += 1) {
    try {
      // The queue that runs are enqueued into tells of trouble with the same server.
      return await BullmqRunQueue.open({ ...options, onTrouble: () => {} });
    } catch (error) {
      if (tries === MAX_TRIES) throw error;
    }
  }
}
