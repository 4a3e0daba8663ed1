import { describe, expect, it } from 'vitest';
import { contentHash } from '@fencepost/ledger/catalog';
import { refusalOf } from '../../../../test/support/refusals.js';
import { CronDeclarationError, checkCron, checkRuntimeCron } from './cron-declaration.js';
import type { HandlerOptions } from './handler-options.js';

const NOW = Date.UTC(2030, 0, 1);
const check = (options: object) =>
  checkCron('Jobs.mail', { expression: '0 3 * * *', options: { name: 'mail', ...options } }, NOW);
const refusal = (options: object) => refusalOf(CronDeclarationError, () => check(options));

const byCustomer = (payload: unknown) => String(payload);

describe('what stands at a handler', () => {
  it('costs nothing where nobody says anything', () => {
    const { declaration, ...terms } = check({});
    expect(terms).toStrictEqual({
      criticality: 'efficiency',
      retry: { attempts: 3, delayMs: 1_000, maxDelayMs: 300_000 },
    });
    expect(declaration.definition.name).toBe('mail');
  });

  it('is told to the worker in milliseconds', () => {
    const { declaration: _, ...terms } = check({
      ...{ criticality: 'correctness', timeout: '5m', concurrencyKey: byCustomer, maxPerKey: 3 },
      ...{ rateLimit: { max: 10, per: '1m' }, retry: { attempts: 1, delay: 0, maxDelay: '1s' } },
    });
    expect(terms).toStrictEqual({
      criticality: 'correctness',
      timeoutMs: 300_000,
      limits: { key: byCustomer, perKey: 3, rate: { max: 10, perMs: 60_000 } },
      retry: { attempts: 1, delayMs: 0, maxDelayMs: 1_000 },
    });
  });

  it('lets one at a time go on with a key, unless it says how many', () => {
    expect(check({ concurrencyKey: byCustomer }).limits).toStrictEqual({ key: byCustomer, perKey: 1 });
    expect(check({ rateLimit: { max: 1, per: '10ms' } }).limits).toStrictEqual({ rate: { max: 1, perMs: 10 } });
  });

  it('takes a key of a payload whose type is known', () => {
    const options: HandlerOptions = { concurrencyKey: ({ customer }: { readonly customer: string }) => customer };
    expect(options.concurrencyKey?.({ customer: 'ada' })).toBe('ada');
  });

  it('is no part of the definition: a build that only changes it defines nothing anew', () => {
    const [plain, other] = [
      check({}),
      check({ criticality: 'correctness', timeout: '5m', concurrencyKey: byCustomer }),
    ];
    expect(contentHash(other.declaration)).toBe(contentHash(plain.declaration));
  });

  it.each([
    [{ criticality: 'high' }, 'criticality', 'one of "efficiency", "correctness", got "high"'],
    [{ timeout: 0 }, 'timeout', "a duration from '1ms' to '7d', got 0"],
    [{ timeout: '8d' }, 'timeout', "a duration from '1ms' to '7d', got \"8d\""],
    [{ concurrencyKey: 'customer' }, 'concurrencyKey', 'a function from the payload to a string, got "customer"'],
    [{ concurrencyKey: byCustomer, maxPerKey: 0 }, 'maxPerKey', 'a whole number from 1 to 1000, got 0'],
    [{ concurrencyKey: byCustomer, maxPerKey: 1_001 }, 'maxPerKey', 'a whole number from 1 to 1000, got 1001'],
    [{ maxPerKey: 2 }, 'maxPerKey', 'concurrencyKey beside it, got concurrencyKey nothing'],
    [{ rateLimit: 10 }, 'rateLimit', 'an object such as { max: 10, per: "1m" }, got 10'],
    [{ rateLimit: { per: '1m' } }, 'rateLimit.max', 'a whole number from 1 to 1000, got nothing'],
    [{ rateLimit: { max: 1_001, per: '1m' } }, 'rateLimit.max', 'a whole number from 1 to 1000, got 1001'],
    [{ rateLimit: { max: 1, per: '9ms' } }, 'rateLimit.per', `a duration from '10ms' to '24h', got "9ms"`],
  ])('is refused where it can not be: %j', (options, option, sentence) => {
    expect(refusal(options)).toBe(`Jobs.mail: option "${option}" of @SingletonCron: expected ${sentence}.`);
  });

  it('says what it has where an option is unknown', () => {
    expect(refusal({ rateLimit: { max: 1, per: '1s', burst: 2 } })).toBe(
      'Jobs.mail: @SingletonCron has no option "rateLimit.burst"; known are max, per.',
    );
  });

  it('stands at no cron that is made at run time', () => {
    const cron = { expression: '0 3 * * *', options: { name: 'mail', timeout: '5m' } };
    expect(refusalOf(CronDeclarationError, () => checkRuntimeCron('CronCatalog.set', cron, NOW))).toMatch(
      /^CronCatalog\.set: the cron has no option "timeout"/,
    );
  });
});
