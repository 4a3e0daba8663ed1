import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { SingletonCron, EffectUnknownError } from '@fencepost/jobs';
import type { IfUnknown, RunContext } from '@fencepost/jobs';
import { testJobs, type TestJobs, type TestJobsOptions, type TestRun } from '@fencepost/testing';

/**
 * What becomes of a request: it is applied and never answered; applied, and the connection breaks; applied, and answered
 * when the test says so; not applied, and the connection breaks; refused.
 */
type Ailment = 'hangs' | 'drops' | 'late' | 'deaf' | 'refuses';

interface Charge {
  readonly key: string;
  readonly amount: number;
}

/** A payment provider over real HTTP, which remembers idempotency keys, or forgets them, and fails as such do. */
class PaymentProvider {
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

interface Receipt {
  readonly receipt: number;
}

interface Ways {
  readonly ifUnknown: IfUnknown<Receipt>;
  readonly timeout?: string;
  readonly keyTtl?: string;
}

class Billing {
  constructor(
    private readonly provider: PaymentProvider,
    private readonly ways: Ways,
  ) {}

  @SingletonCron('0 3 * * *', { name: 'billing' })
  async bill(run: RunContext): Promise<void> {
    await run.effect('charge', ({ idempotencyKey: key }) => this.#charge(key), this.ways);
  }

  /** As a careful client: an answer is an answer, and whatever else comes says nothing of what happened. */
  async #charge(key: string): Promise<Receipt> {
    try {
      return await this.provider.charge({ key, amount: 42 });
    } catch (error) {
      if (error instanceof TypeError) throw new EffectUnknownError('The provider did not answer.', { cause: error });
      throw error;
    }
  }
}

let provider: PaymentProvider;
let kit: TestJobs;
afterEach(async () => {
  await provider.stop();
  expect(kit.clock.pending).toBe(0);
});

const asksProvider: IfUnknown<Receipt> = async ({ idempotencyKey }) => {
  const found = await provider.find(idempotencyKey);
  return found ? { done: found } : 'not-done';
};

async function billing(ways: Ways, { remembers = true, ...options }: { remembers?: boolean } & TestJobsOptions = {}) {
  provider = await PaymentProvider.start({ remembers });
  kit = await testJobs({ ...options, crons: [new Billing(provider, ways)] });
}

/** Turns the clock until the run has come to an end, or to a question. */
async function ended(run: TestRun): Promise<TestRun> {
  const state = async () => {
    await kit.advance('1s');
    return (await kit.run(run)).state;
  };
  await expect.poll(state, { interval: 1, timeout: 15_000 }).toMatch(/succeeded|failed|uncertain/);
  return kit.run(run);
}

describe('a payment provider', () => {
  it.each([
    ['hangs', 'retry', true, 'succeeded', 1],
    ['hangs', 'retry', false, 'succeeded', 2],
    ['hangs', 'ask', false, 'uncertain', 1],
    ['drops', 'retry', true, 'succeeded', 1],
    ['drops', 'retry', false, 'succeeded', 2],
    ['drops', 'ask', false, 'uncertain', 1],
    ['deaf', 'retry', true, 'succeeded', 1],
    ['deaf', 'ask', true, 'uncertain', 0],
    ['refuses', 'retry', true, 'succeeded', 1],
    ['refuses', 'ask', true, 'succeeded', 1],
  ] as const)('that %s, under %j and honouring keys: %j, leaves a run that is %s and %i charges', async (...row) => {
    const [ailment, ifUnknown, remembers, state, charges] = row;
    await billing({ ifUnknown, timeout: '5s' }, { remembers, patienceMs: 100 });
    provider.next(ailment);
    const run = await ended(await kit.fire('billing'));
    expect([run.state, provider.charges.length]).toEqual([state, charges]);
  });

  it.each(['hangs', 'drops', 'deaf'] satisfies Ailment[])(
    'that %s is asked what it did, and charges once',
    async (one) => {
      await billing({ ifUnknown: asksProvider, timeout: '5s' }, { patienceMs: 100 });
      provider.next(one);
      const run = await ended(await kit.fire('billing'));
      expect(run).toMatchObject({ state: 'succeeded', effects: [{ name: 'charge', result: { receipt: 1 } }] });
      expect(provider.charges).toHaveLength(1);
    },
  );

  it('that answers late has its say, whatever the person says who was asked meanwhile', async () => {
    await billing({ ifUnknown: 'ask', timeout: '5s' }, { remembers: false, patienceMs: 100 });
    provider.next('late');
    const run = await ended(await kit.fire('billing'));
    expect(run).toMatchObject({ state: 'uncertain', unresolvedEffect: { effect: 'charge', unknownReason: 'timeout' } });
    provider.answerLate();
    const charge = async () => (await kit.run(run)).effect('charge')?.state;
    await expect.poll(charge).toBe('done');
    const resolved = await kit.resolve(run, 'not-done');
    expect(resolved).toMatchObject({ state: 'succeeded', effects: [{ result: { receipt: 1 } }] });
    expect(provider.charges).toHaveLength(1);
  });

  it('that may have forgotten the key is not asked to charge again', async () => {
    await billing({ ifUnknown: 'retry', keyTtl: '10s' }, { patienceMs: 5_000 });
    kit.crash.afterEffect('charge');
    const run = await kit.fire('billing');
    provider.forgetKeys();
    await kit.drain();
    expect(await kit.run(run)).toMatchObject({
      state: 'uncertain',
      unresolvedEffect: { unknownReason: 'key-expired' },
    });
    expect(provider.charges).toHaveLength(1);
  });
});
