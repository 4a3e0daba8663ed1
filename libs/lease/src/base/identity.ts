import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { hostname } from 'node:os';

const UNFIT_FOR_A_LABEL = /[^A-Za-z0-9._-]+/g;
const MAX_LABEL_LENGTH = 64;

/**
 * The identity of this process: `<label>/<8 hexadecimal digits>-<12>`, new with every call.
 *
 * The random part, 80 bits, is the identity. Each run keeps that of its holder and of its worker, and Redis keeps a run in one piece
 * only while neither is longer than 64 characters: a whole UUID leaves 27 for a label, and pods of Kubernetes have longer names. Host and pod names repeat (a stateful set gives a restarted pod its old name back), so
 * they only serve as a label for people.
 * @param label defaults to the host's name
 */
export function processIdentity(label: string = hostname()): string {
  const uuid = randomUUID();
  return `${label.replace(UNFIT_FOR_A_LABEL, '-').slice(0, MAX_LABEL_LENGTH)}/${uuid.slice(0, 8)}-${uuid.slice(-12)}`;
}

/** A holder as logs show it: the label and enough of the random part to distinguish two, never all of it. */
export function ownerPrefix(holder: string): string {
  const end = holder.lastIndexOf('/') + 1;
  return holder.slice(0, end) + holder.slice(end, end + 8);
}

/** A resource as logs show it: names may contain customer ids. 12 hexadecimal digits of its SHA-256. */
export function hashResource(resource: string): string {
  return createHash('sha256').update(resource).digest('hex').slice(0, 12);
}

/** The last two characters of a nonce number it within its series. */
const NUMBERS: readonly string[] = Array.from({ length: 256 }, (_, n) => n.toString(16).padStart(2, '0'));

let series = '';
let drawn = NUMBERS.length;

/**
 * A unique word: 108 random bits, shared by a series of 256 nonces, and a number within the series. It distinguishes terms and
 * guards nothing from a client of the store, which can read and change them all. It has 20 characters, because a store and a pod
 * each keep one for every lease; a UUID has 36.
 */
export function randomNonce(): string {
  if (drawn === NUMBERS.length) [series, drawn] = [randomBytes(15).toString('base64url').slice(0, 18), 0];
  drawn += 1;
  return `${series}${NUMBERS[drawn - 1]}`;
}

/** A word that is unique among the attempts of one run, or the decisions about one cron: 62 random bits. It is kept with each run, so it is short. */
export function shortNonce(): string {
  return randomUUID().slice(-17);
}
