import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { Inject, Injectable } from '@nestjs/common';
import { SingletonCron, type RunContext } from '@fencepost/jobs';
import { RedisFencedRows } from '@fencepost/lease/sinks';
import { SAMPLES } from './pulse.js';

const PERIOD_MS = 5_000;

/** Every five seconds: packs the samples and records size and checksum. Its archive is unreliable, so it is retried. */
@Injectable()
export class Snapshot {
  constructor(@Inject(RedisFencedRows) private readonly sink: RedisFencedRows) {}

  @SingletonCron('*/5 * * * * *', { name: 'snapshot', retry: { attempts: 4, delay: '300ms' } })
  async run(run: RunContext): Promise<void> {
    const rows = await Promise.all(Array.from({ length: SAMPLES }, (_, n) => this.sink.read(`sample/${n}`)));
    const packed = await promisify(gzip)(JSON.stringify(rows.filter((row) => row !== null)));
    this.#archive(run);
    const sha256 = createHash('sha256').update(packed).digest('hex');
    await run.effect('record', ({ fence, idempotencyKey }) =>
      this.sink.write({
        row: 'snapshot',
        value: JSON.stringify({ bytes: packed.length, sha256 }),
        fence,
        idempotencyKey,
      }),
    );
    run.log.info(`${packed.length} bytes, sha256 ${sha256}`);
  }

  /** Refuses the first try of every third instant, so that retries are there to be seen. */
  #archive(run: RunContext): void {
    const unlucky = (run.scheduledAt.getTime() / PERIOD_MS) % 3 === 0;
    if (unlucky && run.attempt === 1) throw new Error('the archive answered 503 (it does so now and then)');
  }
}
