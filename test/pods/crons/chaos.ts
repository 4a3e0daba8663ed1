import { setTimeout as wait } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import { EffectUnknownError, SingletonCron, type EffectContext, type RunContext } from '@fencepost/jobs';
import { ChaosSink } from '../chaos-sink.js';

/** Around each act, so that a process can end or freeze before it, in it and after it. */
const MOMENT_MS = 60;

/** Faults must not use the attempts up: what is never tried again would look like a loss. */
const RETRY = { attempts: 100, delay: '100ms', maxDelay: '1s' };
/** Short, so that an outage makes instants late. */
const LATE = { grace: '1s', catchUpWindow: '5m' } as const;
/** What only a fleet of format 3 writes down. */
const SAID = {
  description: 'Writes to a sink that checks fences',
  owner: 'team chaos',
  runbookUrl: 'https://example.com/chaos',
};
const EACH_LATE = { misfire: 'fire-all', maxCatchUp: 1_000, ...LATE } as const;

const EACH_SECOND = '* * * * * *';
const EVERY_OTHER = '*/2 * * * * *';

const EACH_THIRD = '*/3 * * * * *';

/** `<code>.<configuration>` of this process: what it declares follows from both. */
const [CODE = 1, CONFIG = 0] = (process.env['CHAOS_PROGRAM'] || '1.0').split('.').map(Number);
/** Of two codes in turn one has another schedule, and so have two configurations. */
const BY_CODE: string = CODE % 2 === 1 ? EACH_SECOND : EVERY_OTHER;
const BY_CONFIG: string = CONFIG % 2 === 0 ? EVERY_OTHER : EACH_THIRD;
/** Never while anybody looks, and another one for each program. */
const RELEASED: string = `${CONFIG % 60} ${CODE % 60} 12 29 2 *`;

/** What each attempt does and nothing protects: where this never happens twice, nothing was put to the test. */
async function begin(sink: ChaosSink, run: RunContext): Promise<void> {
  await sink.control(run);
  await wait(MOMENT_MS);
}

/**
 * A row that all runs share, behind a fence. One run after the other, so that a slow machine must be able to leave instants
 * out: as `merged` when they are late, and while the one before still goes on.
 */
@Injectable()
export class ChaosFenced {
  constructor(@Inject(ChaosSink) private readonly sink: ChaosSink) {}

  // One at a time: what is late has to be made up for faster than more comes due.
  @SingletonCron('*/3 * * * * *', { name: 'chaos-fenced', ...SAID, retry: RETRY, ...EACH_LATE })
  async run(run: RunContext): Promise<void> {
    await begin(this.sink, run);
    await run.effect('write', async (context) => {
      await wait(MOMENT_MS);
      await this.sink.fenced({ run, ...context });
      await wait(MOMENT_MS);
    });
  }
}

/** A sink with idempotency keys. No instant may be left out, and each code has another schedule. */
@Injectable()
export class ChaosKeyed {
  constructor(@Inject(ChaosSink) private readonly sink: ChaosSink) {}

  @SingletonCron(BY_CODE, { name: 'chaos-keyed', retry: RETRY, overlap: 'allow', ...EACH_LATE })
  async run(run: RunContext): Promise<void> {
    await begin(this.sink, run);
    await run.effect('charge', async (context) => {
      await this.sink.keyed({ run, ...context });
      await wait(MOMENT_MS);
    });
    await run.effect('receipt', (context) => this.sink.keyed({ run, ...context }));
  }
}

/** A sink that refuses nothing: a person is asked. Now and then its answer gets lost, before or after it has acted. */
@Injectable()
export class ChaosAsked {
  constructor(@Inject(ChaosSink) private readonly sink: ChaosSink) {}

  @SingletonCron(EVERY_OTHER, { name: 'chaos-asked', retry: RETRY, overlap: 'allow', ...EACH_LATE })
  async run(run: RunContext): Promise<void> {
    await begin(this.sink, run);
    await run.effect('pay', (context) => this.#pay(run, context), { ifUnknown: 'ask' });
  }

  async #pay(run: RunContext, context: EffectContext): Promise<void> {
    const lot = run.attempt === 1 ? Math.floor(run.scheduledAt.getTime() / 2_000) % 8 : 0;
    if (lot === 1) throw new EffectUnknownError('The line was cut before it was sent.');
    await this.sink.asked({ run, ...context });
    await wait(MOMENT_MS);
    if (lot === 2) throw new EffectUnknownError('The line was cut before the answer.');
  }
}

/** Six items in three batches. What is late becomes one run, what comes while one waits takes its place. */
@Injectable()
export class ChaosItems {
  constructor(@Inject(ChaosSink) private readonly sink: ChaosSink) {}

  @SingletonCron(BY_CONFIG, { name: 'chaos-items', retry: RETRY, overlap: 'queue-one', ...LATE })
  async run(run: RunContext): Promise<void> {
    await begin(this.sink, run);
    const act = async (_item: string, context: EffectContext) => {
      await this.sink.keyed({ run, ...context });
      await wait(MOMENT_MS);
    };
    await run.forEach(['a', 'b', 'c', 'd', 'e', 'f'], (item) => item, act, { batchSize: 2 });
  }
}

/** Nothing but what nothing protects, and time to be interrupted. */
@Injectable()
export class ChaosControl {
  constructor(@Inject(ChaosSink) private readonly sink: ChaosSink) {}

  @SingletonCron(EACH_SECOND, { name: 'chaos-control', retry: RETRY, overlap: 'allow', ...LATE })
  async run(run: RunContext): Promise<void> {
    await begin(this.sink, run);
    await wait(10 * MOMENT_MS);
  }
}

/** Only some codes have it: it is removed some time after the last of their pods, and comes back with the next one. */
@Injectable()
export class ChaosParting {
  constructor(@Inject(ChaosSink) private readonly sink: ChaosSink) {}

  @SingletonCron(EACH_SECOND, { name: 'chaos-parting', retry: RETRY, overlap: 'allow', ...EACH_LATE })
  async run(run: RunContext): Promise<void> {
    await run.effect('charge', (context) => this.sink.keyed({ run, ...context }));
  }
}

/** Stands for the program as a whole: no two programs declare it equally. */
@Injectable()
export class ChaosRelease {
  @SingletonCron(RELEASED, { name: 'chaos-release' })
  run(): void {}
}
