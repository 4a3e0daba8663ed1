import { loadScripts, redisKeys, type KeySpace } from '@fencepost/lease/internal/redis';
import type { RedisClient } from '@fencepost/lease/redis';
import type { Revisions } from '../catalog/catalog.js';
import { enrolment, readRevisions } from '../catalog/enrolment.js';
import { orderOf, revisionOf, type Revision } from '../catalog/revision.js';
import {
  readSetText,
  setText,
  type DefinitionSet,
  type EnrolmentHint,
  type KnownRevision,
} from '../catalog/definition-set.js';
import { TEXTS } from './lua/texts.js';

const SCRIPTS = loadScripts(TEXTS, ['enrol-revision']);

/** Of many processes that enrol at once, one is written at a time. */
const MAX_TRIES = 1_000;

export interface RedisRevisionsOptions extends KeySpace {
  readonly redis: RedisClient;
}

/** One record for each app, and the names of each of its newest revisions, beside the catalog. */
export class RedisRevisions implements Revisions {
  readonly #redis: RedisClient;
  readonly #keys: Readonly<Record<'revisions' | 'sets' | 'builds', string>>;

  constructor(options: RedisRevisionsOptions) {
    const key = (part: string) => redisKeys(options)('catalog', part);
    this.#redis = options.redis;
    this.#keys = { revisions: key('revisions'), sets: key('revision-sets'), builds: key('builds') };
  }

  async enrol(set: DefinitionSet, hint?: EnrolmentHint): Promise<Revision> {
    const { revisions, sets, builds } = this.#keys;
    for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
      const [record, [seconds]] = await Promise.all([this.#redis.hget(revisions, set.app), this.#redis.time()]);
      const next = enrolment(record, { set, now: Number(seconds) * 1_000, hint });
      const args = [set.app, record ?? '', next.record, next.order, setText(set), ...next.forgotten];
      const written = await SCRIPTS['enrol-revision'].run(this.#redis, [revisions, sets, builds], args);
      if (written === 1) return revisionOf(next.order) ?? 0;
    }
    throw new Error(`The revisions of ${set.app} changed ${MAX_TRIES} times while a process enrolled.`);
  }

  async of(app: string): Promise<KnownRevision[]> {
    return readRevisions(await this.#redis.hget(this.#keys.revisions, app));
  }

  async declaredBy(app: string, revisions: readonly Revision[]): Promise<(ReadonlyMap<string, string> | null)[]> {
    if (revisions.length === 0) return [];
    const fields = revisions.map((revision) => `${orderOf(revision)} ${app}`);
    const texts = await this.#redis.hmget(this.#keys.sets, ...fields);
    return texts.map((text) => (text === null ? null : readSetText(text)));
  }
}
