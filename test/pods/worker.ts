import 'reflect-metadata';
import type { IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import { Module, Controller, Inject, Injectable, Param, Post, Req, Logger } from '@nestjs/common';
import type { DynamicModule, OnApplicationShutdown, Type } from '@nestjs/common';
import { OperationsModule, CronOperator } from '@fencepost/operations';
import { bootPod, PodModule, type PodEnvironment } from '@fencepost/pod';
import { JOBS_SETTINGS, type JobsSettings } from '@fencepost/jobs/internal';
import type { RedisClient } from '@fencepost/lease/redis';
import { RedisFencedRows } from '@fencepost/lease/sinks';
import { LEASE_REDIS } from '@fencepost/lease/nest';
import { ChaosSinkModule } from './chaos-sink.js';
import { ChaosBooked } from './crons/chaos-booked.js';
import {
  ChaosAsked,
  ChaosControl,
  ChaosFenced,
  ChaosItems,
  ChaosKeyed,
  ChaosParting,
  ChaosRelease,
} from './crons/chaos.js';
import { Echo, Kept, Many, Steps, Tick } from './crons/plain.js';
import { Recorded } from './crons/recorded.js';
import { Shown } from './crons/shown.js';
import { SingletonCron, type RunContext, type TransactionalRunContext } from '@fencepost/jobs';
import { setTimeout as wait } from 'node:timers/promises';
import { Pool } from 'pg';

/** What a test looks for afterwards in everything that the pods have said: nothing of it may be there. */
const SECRET = process.env['CANARY'] ?? 'none';

const JWT_LIKE = `eyJhbGciOiJIUzI1NiJ9.${Buffer.from(SECRET).toString('base64url')}.${SECRET.replaceAll(/\W/g, '')}`;

/** The ways in which people and libraries put secrets into texts. */
const TEXTS = [
  `connect to redis://app:${SECRET}@cache:6379/0 failed`,
  `GET https://api.example/charge?page=1&api_key=${SECRET}&sig=${SECRET} answered 401`,
  `the header was Authorization: Bearer ${SECRET}`,
  `the session ${JWT_LIKE} ended`,
  `{"body":{"client_secret":"${SECRET}","cookie":"sid=${SECRET}"}}`,
  `password=${SECRET} host=db`,
];

/** A handler that is as careless with secrets as one can be. */
@Injectable()
class Canary {
  readonly #logger = new Logger('canary');

  constructor(@Inject(LEASE_REDIS) private readonly redis: RedisClient) {}

  @SingletonCron('* * * * * *', {
    ...{ name: 'canary', overlap: 'allow', expectEvery: '1s', lateAfter: '1s' },
    ...{ retry: { attempts: 2, delay: '100ms' }, payload: { token: SECRET, note: `bare ${SECRET}` } },
    ping: { success: `http://127.0.0.1:1/ping/${SECRET}`, failure: `http://u:${SECRET}@127.0.0.1:1/?token=${SECRET}` },
  })
  async run(run: RunContext): Promise<void> {
    const text = TEXTS[Math.floor(run.scheduledAt.getTime() / 1_000) % TEXTS.length] ?? '';
    run.log.warn(text);
    await run.progress({ headers: { authorization: SECRET }, text });
    this.#logger.error(text);
    this.#logger.warn({ deep: [{ password: SECRET, payload: run.payload }], error: new Error(text) });
    await run.effect('charge', () => ({ receipt: SECRET }));
    // What a library quotes of its own command, whose argument it was.
    if (run.attempt === 1) await this.redis.call('NOSUCH', SECRET);
    if (run.scheduledAt.getTime() % 2_000 === 0) throw new Error(text, { cause: new Error(SECRET) });
  }
}

const MOMENT_MS = 50;

/**
 * Every second, on a ledger in PostgreSQL: a row that commits with its record, and one that is written as to somebody else,
 * who honours idempotency keys. The tables are the test's; nothing but that keeps a row from being there twice.
 */
@Injectable()
class Book implements OnApplicationShutdown {
  readonly #elsewhere: Pool;
  readonly #schema: string;

  constructor(@Inject(JOBS_SETTINGS) { postgres }: JobsSettings) {
    this.#schema = postgres?.schema ?? '';
    // Under the name of a stranger: what ends the ledger's sessions leaves these alone.
    this.#elsewhere = new Pool({ connectionString: postgres?.url, max: 4, application_name: 'elsewhere' });
    this.#elsewhere.on('error', () => {});
  }

  // A slow machine must not leave an instant out because of the one before it.
  @SingletonCron('* * * * * *', {
    ...{ name: 'book', overlap: 'allow', transactions: true },
    retry: { attempts: 20, delay: '50ms' },
  })
  async run(run: TransactionalRunContext): Promise<void> {
    await run.transaction(async (tx) => {
      await tx.query({ text: `insert into "${this.#schema}".booked values ($1, $2)`, values: [run.id, run.attempt] });
      // Time for a session or a worker to end in the middle.
      await wait(MOMENT_MS);
    });
    await run.effect('mail', async ({ idempotencyKey }) => {
      const text = `insert into "${this.#schema}".mailed values ($1, $2) on conflict do nothing`;
      await this.#elsewhere.query(text, [run.id, idempotencyKey]);
      await wait(MOMENT_MS);
    });
  }

  async onApplicationShutdown(): Promise<void> {
    await this.#elsewhere.end();
  }
}

/** Known to the compiler as texts only: what it can read it refuses itself. */
const ATLANTIS: string = 'Europe/Atlantis';

@Injectable()
class BadZone {
  @SingletonCron('0 3 * * *', { name: 'bad', timeZone: ATLANTIS })
  underWater(): void {}
}

@Injectable()
class NameTwice {
  @SingletonCron('0 3 * * *', { name: 'same' })
  one(): void {}

  @SingletonCron('0 4 * * *', { name: 'same' })
  other(): void {}
}

/** Declarations a process has to refuse, by the word that `CRONS` takes. */
const BAD_CRONS = {
  'bad-zone': [BadZone],
  'name-twice': [NameTwice],
};

/** Where the crons of a test write, and where the test reads what really happened. */
@Module({})
class SinkModule {
  /** @param pod the module that provides connection and settings */
  static on(pod: DynamicModule): DynamicModule {
    return {
      module: SinkModule,
      imports: [pod],
      providers: [
        {
          provide: RedisFencedRows,
          inject: [LEASE_REDIS, JOBS_SETTINGS],
          useFactory: (redis: RedisClient, { prefix, tenant }: JobsSettings) =>
            new RedisFencedRows({ redis, prefix, tenant, table: 'test-sink' }),
        },
      ],
      exports: [RedisFencedRows, pod],
    };
  }
}

/** Lets a test have a worker pod trigger a cron, as a page or a web hook of an app would. */
@Controller('operate')
class OperateController {
  constructor(@Inject(CronOperator) private readonly operator: CronOperator) {}

  @Post('trigger/:cron')
  async trigger(@Param('cron') cron: string, @Req() request: IncomingMessage): Promise<unknown> {
    // A pod reads no bodies but those of its console.
    return this.operator.trigger(cron, (await json(request)) as { by: string; payload?: unknown });
  }
}

/** As a hook of a user's that waits for a reply which never comes. */
@Injectable()
class NeverStops implements OnApplicationShutdown {
  onApplicationShutdown(): Promise<void> {
    return new Promise(() => {});
  }
}

const CRONS: Readonly<Record<string, readonly Type[]>> = {
  ...{ tick: [Tick], steps: [Steps], echo: [Echo], many: [Many], book: [Book], canary: [Canary] },
  ...{ shown: [Shown], recorded: [Recorded] },
  chaos: [ChaosFenced, ChaosKeyed, ChaosAsked, ChaosItems, ChaosControl, ChaosRelease],
  'chaos-parting': [ChaosParting],
  'chaos-booked': [ChaosBooked],
  kept: [Kept],
  'never-stops': [NeverStops],
  ...BAD_CRONS,
};

/** A worker pod as an app makes one, with the crons that `CRONS` names. */
@Module({})
class TestWorkerModule {
  static forRoot(environment: PodEnvironment): DynamicModule {
    // Each pod provides a part of the classes above.
    const jobs = { ...environment.jobs, undiscovered: 'warn' as const };
    const pod = PodModule.forRoot('worker', { ...environment, jobs }, OperationsModule);
    const names = (process.env['CRONS'] ?? '').split(',').filter((name) => name !== '');
    const providers = names.flatMap((name) => CRONS[name] ?? []);
    const controllers = [OperateController];
    const sinks = [
      SinkModule.on(pod),
      ...(names.some((name) => name.startsWith('chaos')) ? [ChaosSinkModule.on(pod)] : []),
    ];
    return { module: TestWorkerModule, imports: [pod, ...sinks], providers, controllers };
  }
}

await bootPod({ name: 'test worker', defaultPort: 0, module: (environment) => TestWorkerModule.forRoot(environment) });
