import { createHash } from 'node:crypto';

/** Later words of a message tell instances apart more often than kinds. */
const MAX_LENGTH = 500;

/** What differs between two failures of the same kind, the widest patterns first. */
const VARIABLE: readonly RegExp[] = [
  // UUIDs, with or without hyphens, the random parts of identities of processes, and ids of runs.
  /\b[\da-f]{8}-?(?:[\da-f]{4}-?){3}[\da-f]{12}\b/gi,
  /\b[\da-f]{8}-[\da-f]{12}\b/gi,
  /[\w.-]+@[\w.-]+/g,
  // Quoted parts: names, paths, and values that a program puts into its messages. An apostrophe within a word quotes nothing.
  /"(?:[^"\\]|\\.)*"|`[^`]*`|(?<!\w)'[^']*'(?!\w)/g,
  // Instants, addresses and versions, before the numbers that they are made of.
  /\b\d{4}-\d\d-\d\dT[\d:.]+Z?/g,
  /\b0x[\da-f]+\b/gi,
  /\b(?=[\da-f]*\d)(?=[\da-f]*[a-f])[\da-f]{6,}\b/gi,
  /\d+(?:[.,:]\d+)*/g,
];

/** The message of an error without ids, numbers and quoted parts: the same for two failures of one kind. */
export function errorPattern(error: string): string {
  const first = (error.split('\n', 1)[0] ?? '').slice(0, MAX_LENGTH);
  return VARIABLE.reduce((text, pattern) => text.replace(pattern, '*'), first)
    .replace(/\s+/g, ' ')
    .trim();
}

/** Names the kind of a failure: 16 hexadecimal digits that depend on {@link errorPattern} alone. */
export function fingerprintOf(error: string): string {
  return createHash('sha256').update(errorPattern(error)).digest('hex').slice(0, 16);
}
