import { Controller, Injectable, Module, Scope } from '@nestjs/common';
import { describe, expect, it } from 'vitest';
import type { RunContext, TransactionalRunContext } from '../running/run-context.js';
import { explore, exploreIn } from './explorer.stage.js';
import { JobHandler } from './job-handler.decorator.js';
import { SingletonCron } from './singleton-cron.decorator.js';

/** Known to the compiler as a text only: what it can read it refuses itself. */
const AT_SIXTY_ONE: string = '61 * * * *';

const run = { id: 'c@1' } as TransactionalRunContext;

@Injectable()
class Reports {
  readonly ran: unknown[] = [];

  @SingletonCron('0 3 * * *', { name: 'nightly', retry: { attempts: 5 } })
  nightly(given: RunContext): void {
    this.ran.push(given);
  }

  @SingletonCron('0 4 * * 1', { name: 'weekly' })
  private weekly(): string {
    return `weekly ${this.ran.length}`;
  }

  notScheduled(): string {
    return this.weekly();
  }
}

describe('the explorer', () => {
  it('finds the crons of a provider, private methods too, and calls them on the instance', async () => {
    const reports = new Reports();
    const found = await explore({ provide: Reports, useValue: reports });
    expect([...found.keys()]).toEqual(['nightly', 'weekly']);
    const nightly = found.get('nightly');
    expect(nightly).toMatchObject({ where: 'Reports.nightly', retry: { attempts: 5 } });
    expect(nightly?.declaration.definition.expression).toBe('0 3 * * *');
    await nightly?.handle(run);
    expect(reports.ran).toEqual([run]);
    expect(await found.get('weekly')?.handle(run)).toBe('weekly 1');
  });

  it('finds the crons of a controller', async () => {
    @Controller()
    class Pages {
      @SingletonCron('* * * * *', { name: 'refresh' })
      refresh(): void {}
    }
    expect((await exploreIn({ controllers: [Pages] })).get('refresh')?.where).toBe('Pages.refresh');
  });

  it('finds inherited methods, once, and not those that a subclass overrides', async () => {
    @Injectable()
    class MoreReports extends Reports {
      override nightly(): void {}

      @SingletonCron('* * * * *', { name: 'more' })
      more(): void {}
    }
    const found = await explore(MoreReports);
    expect([...found].map(([name, { where }]) => [name, where])).toEqual([
      ['more', 'MoreReports.more'],
      ['weekly', 'MoreReports.weekly'],
    ]);
  });

  it('takes one instance under two tokens for one', async () => {
    expect((await explore(Reports, { provide: 'alias', useExisting: Reports })).size).toBe(2);
  });

  it('finds each cron and job of a method that has several', async () => {
    @Injectable()
    class Syncs {
      @SingletonCron('0 3 * * *', { name: 'sync-nightly', timeZone: 'Europe/Berlin' })
      @SingletonCron({ name: 'sync-often', every: '10m' })
      @JobHandler('sync-now')
      sync(): void {}
    }
    const found = await explore(Syncs);
    const definitions = [...found.values()].map(({ declaration }) => declaration.definition);
    expect(definitions.map(({ name, expression, timeZone }) => [name, expression, timeZone])).toEqual([
      ['sync-nightly', '0 3 * * *', 'Europe/Berlin'],
      ['sync-often', '@every 10m', 'UTC'],
      ['sync-now', '@manual', 'UTC'],
    ]);
    expect([...found.values()].map(({ where }) => where)).toEqual(Array(3).fill('Syncs.sync'));
  });

  it('calls the method that the instance has when the run begins', async () => {
    const reports = new Reports();
    const found = await explore({ provide: Reports, useValue: reports });
    reports.nightly = () => void reports.ran.push('replaced');
    await found.get('nightly')?.handle(run);
    expect(reports.ran).toEqual(['replaced']);
    Reflect.set(reports, 'nightly', null);
    expect(() => found.get('nightly')?.handle(run)).toThrow('Reports.nightly is no longer a method.');
  });

  it('finds a method that a mixin has copied', async () => {
    class Reporting {
      @SingletonCron('0 3 * * *', { name: 'copied' })
      report(): string {
        return this.constructor.name;
      }
    }
    @Injectable()
    class Shop {}
    Object.defineProperties(Shop.prototype, {
      publish: Reflect.getOwnPropertyDescriptor(Reporting.prototype, 'report') ?? {},
    });
    const copied = (await explore(Shop)).get('copied');
    expect(copied?.where).toBe('Shop.publish');
    expect(await copied?.handle(run)).toBe('Shop');
  });
});

abstract class Sync {
  @SingletonCron('*/5 * * * *', { name: (type: typeof Sync) => `sync-${type.table}` })
  sync(): string {
    return this.constructor.name;
  }

  @JobHandler((type) => `${type.name}.now`)
  now(): void {}

  static readonly table: string = '';
}
@Injectable()
class OrdersSync extends Sync {
  static override readonly table = 'orders';
}
@Injectable()
class InvoicesSync extends Sync {
  static override readonly table = 'invoices';
}

describe('CronExplorer with a name that is a function', () => {
  it('computes the name from the class of the provider, so that each subclass has a cron of its own', async () => {
    const found = await explore(OrdersSync, InvoicesSync);
    expect([...found].map(([name, { where }]) => [name, where])).toEqual([
      ['sync-orders', 'OrdersSync.sync'],
      ['OrdersSync.now', 'OrdersSync.now'],
      ['sync-invoices', 'InvoicesSync.sync'],
      ['InvoicesSync.now', 'InvoicesSync.now'],
    ]);
    expect(await found.get('sync-invoices')?.handle(run)).toBe('InvoicesSync');
  });

  it('checks the name as every other one', async () => {
    @Injectable()
    class Unnamed extends Sync {
      static override readonly table = 'not allowed';
    }
    await expect(explore(Unnamed)).rejects.toThrow(
      'Unnamed.sync: option "name" of @SingletonCron: expected a name of 1 to 100 letters, digits or . _ -, beginning with a ' +
        'letter or digit, got "sync-not allowed".',
    );
  });
});

describe('the explorer refuses', () => {
  it('a name that is taken, and names both methods', async () => {
    @Injectable()
    class Others {
      @SingletonCron('* * * * *', { name: 'nightly' })
      other(): void {}
    }
    await expect(explore(Reports, Others)).rejects.toThrow(
      'Others.other: option "name" of @SingletonCron: expected a name of its own, got "nightly", which Reports.nightly already has.',
    );
  });

  it('a class that two modules provide, and names both modules', async () => {
    @Module({ providers: [Reports] })
    class First {}
    @Module({ providers: [Reports] })
    class Second {}
    await expect(exploreIn({ imports: [First, Second] })).rejects.toThrow(
      'which Reports.nightly already has. Modules First and Second both provide Reports: provide it in one module, export it ' +
        'there, and import that module in the others.',
    );
  });

  it('a class of a dynamic module that is imported with different options, and says so', async () => {
    @Module({})
    class Shared {}
    const shared = (value: number) => ({
      module: Shared,
      providers: [Reports, { provide: 'options', useValue: value }],
    });
    await expect(exploreIn({ imports: [shared(1), shared(2)] })).rejects.toThrow(
      'Two instances of module Shared provide Reports, because it is imported with different options: provide it in one module',
    );
  });

  it('two instances of a class in one module', async () => {
    const other = { provide: 'other', useClass: Reports };
    await expect(explore(Reports, other)).rejects.toThrow(
      'Module RootTestModule provides Reports under two tokens, as two instances: use useExisting for the second one.',
    );
  });

  it('a name that subclasses inherit, and says how each gets its own', async () => {
    @Injectable()
    class Some extends Reports {}
    @Injectable()
    class Others extends Reports {}
    await expect(explore(Some, Others)).rejects.toThrow(
      'Others.nightly: option "name" of @SingletonCron: expected a name of its own, got "nightly", which Some.nightly already ' +
        'has. Both inherit it from Reports: compute the name from the class, such as name: (type) => `sync-${type.name}`.',
    );
  });

  it.each([
    ['request-scoped', Scope.REQUEST],
    ['transient', Scope.TRANSIENT],
  ])('a %s provider', async (_what, scope) => {
    @Injectable({ scope })
    class Short {
      @SingletonCron('* * * * *', { name: 'short' })
      tick(): void {}
    }
    await expect(explore(Short)).rejects.toThrow(
      'Short.tick: @SingletonCron needs a singleton provider, got a request-scoped or transient provider. Move the method to a singleton.',
    );
  });

  it('a provider that depends on a request-scoped one', async () => {
    @Injectable({ scope: Scope.REQUEST })
    class Request {}
    @Injectable()
    class Dependent {
      constructor(readonly request: Request) {}

      @SingletonCron('* * * * *', { name: 'dependent' })
      tick(): void {}
    }
    await expect(explore(Request, Dependent)).rejects.toThrow(
      'Dependent.tick: @SingletonCron needs a singleton provider',
    );
  });

  it('a static method, which would silently never run', async () => {
    @Injectable()
    class Statics {
      @SingletonCron('* * * * *', { name: 'static' })
      static tick(): void {}
    }
    await expect(explore(Statics)).rejects.toThrow(
      'Statics.tick: @SingletonCron needs an instance method, got a static method.',
    );
  });

  it('a declaration that can not be', async () => {
    @Injectable()
    class Wrong {
      @SingletonCron(AT_SIXTY_ONE, { name: 'wrong' })
      tick(): void {}
    }
    await expect(explore(Wrong)).rejects.toThrow(
      'Wrong.tick: the expression of @SingletonCron: expected a valid cron expression',
    );
  });
});
