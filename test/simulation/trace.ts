import type { VirtualClock } from './virtual-clock.js';
import type { SimProcess } from './sim-process.js';

/**
 * A number for everything that happened, in its order: the same for two runs that were the same. Nonces are left out, they
 * are fresh each time and mean nothing.
 */
export class Trace {
  #low = 0x811c9dc5;
  #high = 0x01000193;
  #calls = 0;
  /** Told each line, for who wants to read along. */
  onLine: ((line: string) => void) | null = null;

  constructor(private readonly clock: VirtualClock) {}

  get calls(): number {
    return this.#calls;
  }

  get hash(): string {
    return [this.#high, this.#low].map((half) => (half >>> 0).toString(16).padStart(8, '0')).join('');
  }

  sent(
    { process, port }: Link,
    { method, args }: { readonly method: string; readonly args: readonly unknown[] },
  ): void {
    this.#calls += 1;
    const about = aboutOf(args[0]);
    this.#number(Math.floor(this.clock.monotonic() * 1_000));
    this.#text(process.name);
    this.#text(method);
    this.#text(about);
    this.onLine?.(`${process.name} ${port}.${method} ${about}`);
  }

  heard(reply: unknown): void {
    const verdict = verdictOf(reply);
    this.#text(verdict);
    this.onLine?.(`  → ${verdict}`);
  }

  /** What happened beside the calls. */
  note(what: string): void {
    this.#number(Math.floor(this.clock.monotonic() * 1_000));
    this.#text(what);
    this.onLine?.(what);
  }

  #number(value: number): void {
    this.#low = Math.imul(this.#low ^ (value % 2 ** 32), 0x01000193);
    this.#high = Math.imul(this.#high ^ (this.#low >>> 15) ^ Math.floor(value / 2 ** 32), 0x85ebca6b);
  }

  #text(text: string): void {
    let [low, high] = [this.#low, this.#high];
    for (let n = 0; n < text.length; n += 1) {
      low = Math.imul(low ^ text.charCodeAt(n), 0x01000193);
      high = Math.imul(high ^ (low >>> 13), 0x85ebca6b);
    }
    [this.#low, this.#high] = [low, high];
  }
}

/** What a call is about, without its nonces. */
function aboutOf(first: unknown): string {
  if (typeof first === 'string') return first;
  if (Array.isArray(first)) return first.length === 0 ? '' : `${first.length}×${aboutOf(first[0])}`;
  if (typeof first !== 'object' || first === null) return '';
  const of = first as Record<string, unknown>;
  const name = of['runId'] ?? of['cron'] ?? of['resource'] ?? '';
  return `${textOf(name)} ${textOf(of['fence'])}`;
}

function verdictOf(reply: unknown): string {
  if (typeof reply !== 'object' || reply === null) return String(reply);
  if (Array.isArray(reply)) return `${reply.length}×${reply.length === 0 ? '' : verdictOf(reply[0])}`;
  const of = reply as Record<string, unknown>;
  const value = of['value'];
  if (typeof value === 'object' && value !== null) return verdictOf(value);
  const [verdict, fence] = [of['verdict'] ?? of['acquired'] ?? of['version'] ?? '', of['fence'] ?? ''];
  return `${textOf(verdict)} ${textOf(fence)}`;
}

function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? `${value}` : '';
}

export const PORTS = ['ledger', 'leases', 'catalog', 'membership', 'registry', 'queue'] as const;
export type PortName = (typeof PORTS)[number];

export interface Link {
  readonly process: SimProcess;
  readonly port: PortName;
}
