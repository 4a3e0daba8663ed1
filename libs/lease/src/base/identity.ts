import { createHash, randomUUID } from 'node:crypto';
import { hostname } from 'node:os';

const UNFIT_FOR_A_LABEL = /[^A-Za-z0-9._-]+/g;
const MAX_LABEL_LENGTH = 64;

/**
 * The identity of this process: `<label>/<uuid>`, new with every call.
 *
 * The random part is the identity. Host and pod names repeat (a stateful set gives a restarted pod its old name back), so
 * they only serve as a label for people.
 * @param label defaults to the host's name
 */
export function processIdentity(label: string = hostname()): string {
  return `${label.replace(UNFIT_FOR_A_LABEL, '-').slice(0, MAX_LABEL_LENGTH)}/${randomUUID()}`;
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
