import { Inject, Injectable, Logger } from '@nestjs/common';
import { SingletonCron, type RunContext } from '@fencepost/jobs';
import { LEASE_REDIS } from '@fencepost/lease/nest';
import type { RedisClient } from '@fencepost/lease/redis';

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
export class Canary {
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
