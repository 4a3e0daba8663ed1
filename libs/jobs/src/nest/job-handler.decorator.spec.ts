import { Injectable, Scope } from '@nestjs/common';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import type { RunContext, TransactionalRunContext } from '../running/run-context.js';
import { explore } from './explorer.stage.js';
import { JobHandler, type JobRun } from './job-handler.decorator.js';
import { SingletonCron } from './singleton-cron.decorator.js';

const mail = z.object({ to: z.string(), at: z.string().transform((text) => new Date(text)) });

@Injectable()
class Mails {
  readonly ran: unknown[] = [];

  @JobHandler('send-mail', { schema: mail, retry: { attempts: 5 } })
  send(run: JobRun<typeof mail>): void {
    this.ran.push(run.payload.at);
  }

  @JobHandler('sweep-mails')
  private sweep(run: RunContext): void {
    this.ran.push(run.payload);
  }

  notAJob(): void {
    this.sweep({ payload: null } as RunContext);
  }
}

/** What a decorator lets its method take. */
type RunOf<Decorator extends (target: object, key: string, descriptor: never) => void> =
  Parameters<Decorator>[2] extends TypedPropertyDescriptor<(run: infer Run) => unknown> ? Run : never;

describe('a method with @JobHandler', () => {
  it('is found beside those with @SingletonCron, and called on its instance', async () => {
    @Injectable()
    class Reports {
      @SingletonCron('0 3 * * *', { name: 'nightly' })
      nightly(): void {}
    }
    const mails = new Mails();
    const found = await explore({ provide: Mails, useValue: mails }, Reports);
    expect([...found.keys()].toSorted()).toEqual(['nightly', 'send-mail', 'sweep-mails']);
    const job = found.get('send-mail');
    expect(job).toMatchObject({ where: 'Mails.send', retry: { attempts: 5 } });
    expect(job?.declaration.definition.expression).toBe('@manual');
    const at = new Date(0);
    await job?.handle({ payload: { to: 'ada', at } } as unknown as TransactionalRunContext);
    expect(mails.ran).toEqual([at]);
  });

  it('gets the payload as its schema makes it: the compiler knows', () => {
    expectTypeOf<JobRun<typeof mail>['payload']>().toEqualTypeOf<{ to: string; at: Date }>();
    expectTypeOf<JobRun<typeof mail>['effect']>().toEqualTypeOf<RunContext['effect']>();
    const decorate = JobHandler('send-mail', { schema: mail });
    expectTypeOf<RunOf<typeof decorate>['payload']>().toEqualTypeOf<{ to: string; at: Date }>();
  });

  it('begins transactions only if its options say so: the compiler knows', () => {
    const plain = JobHandler('send-mail', { schema: mail });
    const booking = JobHandler('book', { schema: mail, transactions: true });
    const cron = SingletonCron('0 3 * * *', { name: 'nightly' });
    const bookingCron = SingletonCron({ name: 'poll', every: '30s', transactions: true });
    expectTypeOf<RunOf<typeof plain>>().not.toHaveProperty('transaction');
    expectTypeOf<RunOf<typeof booking>>().toHaveProperty('transaction');
    expectTypeOf<RunOf<typeof booking>['payload']>().toEqualTypeOf<{ to: string; at: Date }>();
    expectTypeOf<RunOf<typeof cron>>().toEqualTypeOf<RunContext>();
    expectTypeOf<RunOf<typeof bookingCron>>().toEqualTypeOf<TransactionalRunContext>();
  });

  it('has to be one of a provider that exists once', async () => {
    @Injectable({ scope: Scope.TRANSIENT })
    class Many {
      @JobHandler('a')
      a(): void {}
    }
    await expect(explore(Many)).rejects.toThrow('Many.a: @JobHandler needs a singleton provider');
    @Injectable()
    class Static {
      @JobHandler('a')
      static a(): void {}
    }
    await expect(explore(Static)).rejects.toThrow('Static.a: @JobHandler needs an instance method');
  });
});
