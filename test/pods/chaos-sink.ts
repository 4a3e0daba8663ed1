import { Injectable, Module, type OnApplicationShutdown } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import { EffectUnknownError, type RunContext } from '@fencepost/jobs';
import { JOBS_SETTINGS, type JobsSettings } from '@fencepost/jobs/internal';
import { parseFence, type Fence } from '@fencepost/lease';
import { closeRedis, connectRedis, type RedisClient } from '@fencepost/lease/redis';
import { RedisFencedRows } from '@fencepost/lease/sinks';

const COMMAND_MS = 2_000;
const KEEP = 1_000_000;
/** For a sink that knows nothing of fences: all are equal to it. */
const NO_FENCE = parseFence('1');

interface Act {
  readonly run: Pick<RunContext, 'id' | 'cron' | 'attempt'>;
  readonly fence: Fence;
  readonly idempotencyKey: string;
}

/**
 * The systems that the chaos crons change, outside of everything that is broken on purpose: one that compares fences, one
 * that remembers idempotency keys, one that does neither, and a control that no effect protects.
 */
@Injectable()
export class ChaosSink implements OnApplicationShutdown {
  readonly #fenced: RedisFencedRows;
  readonly #keyed: RedisFencedRows;
  readonly #prefix: string;

  constructor(
    private readonly redis: RedisClient,
    { prefix, tenant }: Pick<JobsSettings, 'prefix' | 'tenant'>,
  ) {
    const space = { redis, prefix, tenant, keep: KEEP };
    this.#prefix = prefix;
    this.#fenced = new RedisFencedRows({ ...space, table: 'chaos-fenced' });
    this.#keyed = new RedisFencedRows({ ...space, table: 'chaos-keyed' });
  }

  /** One row for all runs of the cron: whoever is behind is refused. */
  fenced({ run, fence, idempotencyKey }: Act): Promise<string> {
    return this.#fenced.write({ row: run.cron, value: run.id, fence, idempotencyKey });
  }

  keyed({ run, idempotencyKey }: Act): Promise<string> {
    return this.#keyed.write({ row: run.id, value: String(run.attempt), fence: NO_FENCE, idempotencyKey });
  }

  /** @throws {EffectUnknownError} when there is no answer: it may have happened */
  async asked({ run }: Act): Promise<void> {
    try {
      await this.#note('asked', run);
    } catch (error) {
      throw new EffectUnknownError('The sink did not answer.', { cause: error });
    }
  }

  async control(run: RunContext): Promise<void> {
    await this.#note('control', run);
  }

  async onApplicationShutdown(): Promise<void> {
    await closeRedis(this.redis);
  }

  async #note(journal: string, { id, attempt }: Act['run']): Promise<void> {
    await this.redis.xadd(`${this.#prefix}:chaos-${journal}`, '*', 'run', id, 'what', 'act', 'attempt', attempt);
  }
}

/** The pods' environment says where: `SINK_REDIS_URL`. */
@Module({})
export class ChaosSinkModule {
  /** @param pod the module that provides the settings */
  static on(pod: DynamicModule): DynamicModule {
    const sink = {
      provide: ChaosSink,
      inject: [JOBS_SETTINGS],
      useFactory: async (settings: JobsSettings) => {
        const url = process.env['SINK_REDIS_URL'] ?? '';
        return new ChaosSink(await connectRedis({ url, commandTimeoutMs: COMMAND_MS, name: 'chaos-sink' }), settings);
      },
    };
    return { module: ChaosSinkModule, imports: [pod], providers: [sink], exports: [ChaosSink] };
  }
}
