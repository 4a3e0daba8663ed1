import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * What becomes of a request: it is applied and never answered; applied, and the connection breaks; applied, and answered
 * when the test says so; not applied, and the connection breaks; refused.
 */
export type Ailment = 'hangs' | 'drops' | 'late' | 'deaf' | 'refuses';

interface Charge {
  readonly key: string;
  readonly amount: number;
}

/** A payment provider over real HTTP, which remembers idempotency keys, or forgets them, and fails as such do. */
export class PaymentProvider {
  /** All that was charged, in order. */
  readonly charges: Charge[] = [];
  readonly url: string;
  readonly #receipts = new Map<string, number>();
  readonly #ailments: Ailment[] = [];
  readonly #late: (() => void)[] = [];

  private constructor(
    private readonly server: ReturnType<typeof createServer>,
    private readonly remembers: boolean,
  ) {
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  /** @param remembers whether a key that was used before is honoured */
  static async start({ remembers = true }: { readonly remembers?: boolean } = {}): Promise<PaymentProvider> {
    const server = createServer((request, response) => void provider.#answer(request, response));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const provider = new PaymentProvider(server, remembers);
    return provider;
  }

  /** What becomes of the next requests, one after the other. */
  next(...ailments: Ailment[]): void {
    this.#ailments.push(...ailments);
  }

  forgetKeys(): void {
    this.#receipts.clear();
  }

  /** Answers all that was applied and waits. */
  answerLate(): void {
    for (const answer of this.#late.splice(0)) answer();
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  /** As a client of it would: @throws when there is no answer, or one that isn't 200 */
  async charge(charge: Charge, signal?: AbortSignal): Promise<{ readonly receipt: number }> {
    const headers = { 'idempotency-key': encodeURIComponent(charge.key) };
    const body = JSON.stringify({ amount: charge.amount });
    const options = { method: 'POST', headers, body, ...(signal ? { signal } : {}) };
    const response = await fetch(`${this.url}/charges`, options);
    if (!response.ok) throw new Error(`Expected a receipt, got ${response.status}.`);
    return (await response.json()) as { receipt: number };
  }

  /** `null`: the provider knows of no such charge. */
  async find(key: string): Promise<{ readonly receipt: number } | null> {
    const response = await fetch(`${this.url}/charges/${encodeURIComponent(key)}`);
    return response.status === 404 ? null : ((await response.json()) as { receipt: number });
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method === 'GET') {
      const receipt = this.#receipts.get(decodeURIComponent(request.url?.split('/').at(-1) ?? ''));
      return void response.writeHead(receipt === undefined ? 404 : 200).end(JSON.stringify({ receipt }));
    }
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const ailment = this.#ailments.shift();
    if (ailment === 'deaf') return void request.socket.destroy();
    if (ailment === 'refuses') return void response.writeHead(402).end();
    const key = decodeURIComponent(String(request.headers['idempotency-key']));
    const { amount } = JSON.parse(body) as { amount: number };
    const receipt = JSON.stringify({ receipt: this.#apply({ key, amount }) });
    if (ailment === 'drops') request.socket.destroy();
    else if (ailment === 'late') this.#late.push(() => void response.end(receipt));
    else if (ailment !== 'hangs') response.end(receipt);
  }

  #apply(charge: Charge): number {
    const known = this.remembers ? this.#receipts.get(charge.key) : undefined;
    if (known !== undefined) return known;
    const receipt = this.charges.push(charge);
    this.#receipts.set(charge.key, receipt);
    return receipt;
  }
}
