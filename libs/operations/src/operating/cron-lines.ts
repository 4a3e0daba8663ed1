import { FencepostError } from '@fencepost/lease';
import type { CronCatalog } from './cron-catalog.js';
import type { NamedCron } from './cron-settings.js';
import type { CronProblem } from './checked-crons.js';
import type { ManyOrder, ManyReport, RecordPart } from './many-crons.js';
import { inSlices } from './slices.js';

/* Crons as text: one JSON object in a line (NDJSON), with its name and the options that it is made of. */

/** How much of an import is taken at once. */
export interface LineLimits {
  readonly maxLines: number;
  readonly maxBytes: number;
}

/** No definition is longer: a payload may have 64 KiB. */
const MAX_LINE_BYTES = 131_072;

/** An import is too long: nothing was written. */
class ImportTooLargeError extends FencepostError {
  readonly code = 'TOO_LARGE';
}

/** The lines of an import that could be read, and what is wrong with the others. */
export interface CronLines {
  readonly crons: NamedCron[];
  readonly positions: number[];
  readonly problems: CronProblem[];
}

/** As a line, without its end. */
export function lineOf(cron: NamedCron): string {
  return JSON.stringify(cron);
}

/**
 * Reads an import as it comes: no more of it is taken while a piece is being read.
 * @throws {ImportTooLargeError}
 */
export async function readCronLines(
  pieces: AsyncIterable<Uint8Array | string>,
  limits: LineLimits,
): Promise<CronLines> {
  const reader = new LineReader(limits);
  for await (const piece of pieces) await inSlices(reader.take(typeof piece === 'string' ? Buffer.from(piece) : piece));
  reader.end();
  return reader;
}

/** @throws {InvalidCronsError} for lines that can't be, with the number and the reason of each; nothing is written */
export function importLines(
  catalog: Pick<CronCatalog, 'setMany'>,
  lines: CronLines,
  order: ManyOrder & { readonly record?: RecordPart },
): Promise<ManyReport> {
  const { crons, positions, problems } = lines;
  const { record, ...asked } = order;
  return catalog.setMany(crons, asked, { positions, problems, ...(record && { record }) });
}

const NEWLINE = 0x0a;

class LineReader implements CronLines {
  readonly crons: NamedCron[] = [];
  readonly positions: number[] = [];
  readonly problems: CronProblem[] = [];
  /** Of a line that has not ended yet. */
  #rest: Uint8Array[] = [];
  #restBytes = 0;
  #bytes = 0;
  #line = 0;

  constructor(private readonly limits: LineLimits) {}

  *take(piece: Uint8Array): Generator<void, void> {
    const { maxBytes } = this.limits;
    this.#bytes += piece.length;
    if (this.#bytes > maxBytes) throw tooLarge(`${maxBytes / 1_048_576} MiB`);
    let from = 0;
    for (let end = piece.indexOf(NEWLINE); end >= 0; end = piece.indexOf(NEWLINE, from)) {
      this.#keep(piece.subarray(from, end));
      this.#read();
      from = end + 1;
      yield;
    }
    this.#keep(piece.subarray(from));
  }

  end(): void {
    if (this.#restBytes > 0) this.#read();
  }

  #keep(part: Uint8Array): void {
    this.#restBytes += part.length;
    if (this.#restBytes > MAX_LINE_BYTES) throw tooLarge(`${MAX_LINE_BYTES / 1_024} KiB in line ${this.#line + 1}`);
    if (part.length > 0) this.#rest.push(part);
  }

  #read(): void {
    const text = Buffer.concat(this.#rest).toString('utf8').trim();
    [this.#rest, this.#restBytes] = [[], 0];
    this.#line += 1;
    if (text === '') return;
    if (this.crons.length + this.problems.length >= this.limits.maxLines)
      throw tooLarge(`${this.limits.maxLines} crons`);
    const read = cronIn(text);
    if (typeof read === 'string') {
      this.problems.push({ position: this.#line, cron: null, code: 'NOT_JSON', detail: read });
    } else {
      this.crons.push(read);
      this.positions.push(this.#line);
    }
  }
}

/** @returns what is wrong, in a sentence */
function cronIn(text: string): NamedCron | string {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return `Expected one JSON object, got ${start(text)}.`;
    if (typeof Reflect.get(value, 'name') !== 'string') return 'Expected "name", the name of a cron.';
    return value as NamedCron;
  } catch {
    return `Expected one JSON object in a line, got ${start(text)}.`;
  }
}

function start(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
}

function tooLarge(most: string): ImportTooLargeError {
  return new ImportTooLargeError(`Expected at most ${most}. Nothing was written: send it in parts.`);
}
