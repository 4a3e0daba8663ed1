import { Inject, Injectable } from '@nestjs/common';
import { CronExpression } from '@nestjs/schedule';
import { SingletonCron, type EffectContext, type RunContext } from '@fencepost/jobs';
import type { RedisClient } from '@fencepost/lease/redis';
import { RedisFencedRows } from '@fencepost/lease/sinks';
import { LEASE_REDIS } from '@fencepost/lease/nest';

type Probe = (redis: RedisClient) => Promise<unknown>;

const PROBES: readonly (readonly [string, Probe])[] = [
  ['ping', (redis) => redis.ping()],
  ['get', (redis) => redis.get('fencepost:no-such-key')],
  ['time', (redis) => redis.time()],
  ['script', (redis) => redis.call('EVAL', 'return 1', '0')],
];

/** How long each command is probed; the run takes long enough to be watched, and to be interrupted. */
const PROBE_MS = 400;

/** Every ten seconds: how quick each kind of command is. One effect a command, so that a retry goes on where it stopped. */
@Injectable()
export class LatencyReport {
  constructor(
    @Inject(LEASE_REDIS) private readonly redis: RedisClient,
    @Inject(RedisFencedRows) private readonly sink: RedisFencedRows,
  ) {}

  @SingletonCron(CronExpression.EVERY_10_SECONDS, { name: 'latency-report', retry: { delay: '500ms' } })
  async run(run: RunContext): Promise<void> {
    const report: Record<string, number> = {};
    for (const [index, [name, probe]] of PROBES.entries()) {
      report[name] = await run.effect(`probe-${name}`, async (context) => {
        const micros = await this.#measure(probe, context);
        await this.#write(`latency/${name}`, { micros }, context);
        return micros;
      });
      await run.progress(Math.round(((index + 1) / (PROBES.length + 1)) * 100));
    }
    await run.effect('publish', (context) => this.#write('latency/report', report, context));
    await run.progress(100);
    run.log.info(`microseconds by command: ${JSON.stringify(report)}`);
  }

  /** The median of as many round trips as fit into the time, microseconds. */
  async #measure(probe: Probe, { signal }: EffectContext): Promise<number> {
    const taken: number[] = [];
    const until = performance.now() + PROBE_MS;
    while (performance.now() < until) {
      signal.throwIfAborted();
      const sentAt = performance.now();
      await probe(this.redis);
      taken.push(performance.now() - sentAt);
    }
    taken.sort((a, b) => a - b);
    return Math.round((taken[Math.floor(taken.length / 2)] ?? 0) * 1_000);
  }

  async #write(row: string, value: object, { fence, idempotencyKey }: EffectContext): Promise<void> {
    await this.sink.write({ row, value: JSON.stringify(value), fence, idempotencyKey });
  }
}
