import { loadScripts, redisKeys, type KeySpace } from '@fencepost/lease/internal/redis';
import type { RedisClient } from '@fencepost/lease/redis';
import {
  byIdentity,
  MAX_REVISIONS,
  POD_GONE_MS,
  REVISION_KEPT_MS,
  splitCard,
  type HeardRevision,
  type NewPodCard,
  type PodCard,
  type PodRegistry,
  type PodState,
  type RegistryReading,
  type ReportReply,
} from './pod-registry.js';
import { TEXTS } from './lua/texts.js';

const SCRIPTS = loadScripts(TEXTS, ['report-pod', 'look-pods', 'leave-pod']);

/** Keys of a registry whose last pod is killed live this much longer than the pod. */
const TIDY_MS = 5_000;

export interface RedisPodRegistryOptions extends KeySpace {
  /** Stays the caller's to close. */
  readonly redis: RedisClient;
}

/** The card of a pod as the store has it. */
interface KeptCard {
  readonly fixed: string;
  readonly bytes: number;
}

/** One report as it is sent; `card` is empty where the store should have it. */
interface SentReport {
  readonly pod: string;
  readonly state: string;
  readonly bytes: number;
  readonly card: string;
}

/** The pods, in hashes and sorted sets beside the catalog. A report costs one command, whose size doesn't grow with the handlers. */
export class RedisPodRegistry implements PodRegistry {
  readonly #redis: RedisClient;
  readonly #keys: Record<'cards' | 'times' | 'states' | 'heard' | 'revisions' | 'registry', string>;
  readonly #kept = new Map<string, KeptCard>();

  constructor(options: RedisPodRegistryOptions) {
    this.#redis = options.redis;
    const key = redisKeys(options);
    this.#keys = {
      cards: key('catalog', 'pod-cards'),
      times: key('catalog', 'pod-times'),
      states: key('catalog', 'pod-states'),
      heard: key('catalog', 'pod-heard'),
      revisions: key('catalog', 'pod-revisions'),
      registry: key('catalog', 'pod-registry'),
    };
  }

  async report(card: NewPodCard): Promise<ReportReply> {
    const { fixed, state } = splitCard(card);
    const text = `${declaredBy(card)}\n${JSON.stringify(state)}`;
    const kept = this.#kept.get(card.pod);
    const isKept = kept?.fixed === JSON.stringify(fixed);
    const reply = isKept ? await this.#send({ pod: card.pod, state: text, bytes: kept.bytes, card: '' }) : null;
    return reply ?? (await this.#sendAll(card, text));
  }

  async look(): Promise<RegistryReading> {
    const { cards, times, states, revisions, registry } = this.#keys;
    const keys = [cards, times, states, revisions, registry];
    const reply = await SCRIPTS['look-pods'].run(this.#redis, keys, [POD_GONE_MS, REVISION_KEPT_MS]);
    const [micros, born, heard, pods] = reply as [string, string, string[], string[]];
    const found = inGroups(pods, 3).map(([seenAt, card, state]) => cardOf({ seenAt, card, state }));
    return {
      now: Number(micros) / 1_000,
      bornAt: Number(born),
      pods: found.filter((card) => card !== null).toSorted(byIdentity),
      revisions: inGroups(heard, 2).map(([declared, seenAt]) => revisionOf(declared, seenAt)),
    };
  }

  async list(): Promise<readonly PodCard[]> {
    return (await this.look()).pods;
  }

  async change(): Promise<number> {
    return Number(await this.#redis.hget(this.#keys.registry, 'change'));
  }

  async leave(pod: string): Promise<void> {
    this.#kept.delete(pod);
    await SCRIPTS['leave-pod'].run(this.#redis, Object.values(this.#keys), [pod]);
  }

  async #sendAll(card: NewPodCard, state: string): Promise<ReportReply> {
    // A former build reads all of a pod from its card, and expects the number of a build.
    const text = JSON.stringify({ ...card, buildSeq: null });
    const bytes = Buffer.byteLength(text);
    // Forgotten until the store has answered: it may or may not have this card then.
    this.#kept.delete(card.pod);
    const reply = await this.#send({ pod: card.pod, state, bytes, card: text });
    if (reply === null) throw new Error('The script report-pod did not take a card.');
    this.#kept.set(card.pod, { fixed: JSON.stringify(splitCard(card).fixed), bytes });
    return reply;
  }

  /** @returns `null` where the store needs the card */
  async #send({ pod, state, bytes, card }: SentReport): Promise<ReportReply | null> {
    const args = [pod, state, bytes, card, POD_GONE_MS, TIDY_MS, REVISION_KEPT_MS, MAX_REVISIONS];
    const reply = await SCRIPTS['report-pod'].run(this.#redis, Object.values(this.#keys), args);
    const [micros, change, known] = reply as [string, string, string];
    return known === '1' ? { now: Number(micros) / 1_000, change: Number(change) } : null;
  }
}

function declaredBy({ app, revision }: NewPodCard): string {
  return revision === null ? '' : `${revision} ${app}`;
}

function revisionOf(declared = '', seenAt = ''): HeardRevision {
  const at = declared.indexOf(' ');
  return { app: declared.slice(at + 1), revision: Number(declared.slice(0, at)), seenAt: Number(seenAt) };
}

interface StoredPod {
  readonly seenAt: string | undefined;
  readonly card: string | undefined;
  readonly state: string | undefined;
}

/** A former build has the number of a build, and no revision. */
type StoredCard = Omit<NewPodCard, 'revision'> & {
  readonly revision?: number | null;
  readonly buildSeq?: number | null;
};

/** `null` for an unreadable card: its pod writes it anew with its next report, and the others are listed meanwhile. */
function cardOf({ seenAt, card = '', state = '' }: StoredPod): PodCard | null {
  try {
    const { buildSeq: _buildSeq, revision = null, ...read } = JSON.parse(card) as StoredCard;
    if (typeof read.pod !== 'string' || !Array.isArray(read.roles) || !Array.isArray(read.handlers)) return null;
    const whole = { ...read, revision, seenAt: Number(seenAt) };
    if (state === '') return whole;
    const changing = JSON.parse(state.slice(state.indexOf('\n') + 1)) as PodState;
    // Those in the card are of the time when it was sent.
    return { ...splitCard(whole).fixed, ...changing, seenAt: whole.seenAt };
  } catch {
    return null;
  }
}

function inGroups(flat: readonly string[], size: number): string[][] {
  return Array.from({ length: flat.length / size }, (_, n) => flat.slice(n * size, (n + 1) * size));
}
