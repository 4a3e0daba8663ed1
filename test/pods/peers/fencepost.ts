import 'reflect-metadata';
import { setTimeout as wait } from 'node:timers/promises';
import { Injectable, Module, type DynamicModule, type OnApplicationShutdown } from '@nestjs/common';
import { SingletonCron, type RunContext } from '@fencepost/jobs';
import { RedisFencedRows } from '@fencepost/lease/sinks';
import { bootPod, PodModule, type PodEnvironment } from '@fencepost/pod';
import { Redis } from 'ioredis';
import { told, WORK_MS } from './report.js';

const { SINK_REDIS_URL = '', SINK_LOG = '', POD_NAME: by = '' } = process.env;

/** Where the reports go: the same server as with the peers, in a table that looks at fences. */
const redis = new Redis(SINK_REDIS_URL, { maxRetriesPerRequest: null });
const sink = new RedisFencedRows({ redis, prefix: SINK_LOG, tenant: 'torture', table: 'reports' });

@Injectable()
class Reports implements OnApplicationShutdown {
  // No instant is to be left out: those that are due wait for each other, however many they are.
  @SingletonCron(told().expression, {
    name: 'report',
    overlap: 'queue-all',
    misfire: 'fire-all',
    catchUpWindow: '1h',
    maxCatchUp: 1_000,
    retry: { attempts: 100, delay: '200ms', maxDelay: '1s' },
  })
  async run(run: RunContext): Promise<void> {
    const { id, fence, attempt } = run;
    // From here on the row knows this attempt's fence: an earlier one writes nothing any more.
    const note = `${id}/attempt-${attempt}`;
    await run.effect('write', async ({ idempotencyKey }) => {
      await sink.write({ row: 'report', value: `begun ${by} ${note}`, fence, idempotencyKey: note });
      await wait(WORK_MS);
      await sink.write({ row: 'report', value: 'written', fence, idempotencyKey });
    });
  }

  onApplicationShutdown(): void {
    redis.disconnect();
  }
}

@Module({})
class ReportsModule {
  static forRoot(environment: PodEnvironment): DynamicModule {
    return { module: ReportsModule, imports: [PodModule.forRoot('worker', environment)], providers: [Reports] };
  }
}

await bootPod({
  name: 'Fencepost worker',
  defaultPort: 0,
  module: (environment) => ReportsModule.forRoot(environment),
});
