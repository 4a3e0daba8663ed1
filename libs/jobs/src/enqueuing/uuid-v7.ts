/**
 * A UUID whose text sorts by time (RFC 9562, section 5.7): 48 bits of epoch milliseconds, then the random bits of a version
 * 4 UUID, which has its variant where version 7 has it.
 */
export function uuidV7(now: number, uuidV4: string): string {
  const time = Math.floor(now).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${uuidV4.slice(15)}`;
}
