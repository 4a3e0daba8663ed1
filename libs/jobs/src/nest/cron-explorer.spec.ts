import { Controller, Injectable, Module, Scope } from '@nestjs/common';
import type { ModuleMetadata, Provider } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import { CLOCK } from '@fencepost/lease/nest';
import { ManualClock } from '@fencepost/lease/testing';
import { describe, expect, it } from 'vitest';
import type { RunContext, TransactionalRunContext } from '../running/run-context.js';
import { CronExplorer, type FoundCron } from './cron-explorer.js';
import { SingletonCron } from './singleton-cron.decorator.js';
import { JOBS_SETTINGS } from './tokens.js';

async function explore(...providers: Provider[]): Promise<Map<string, FoundCron>> {
  return exploreIn({ providers });
}

function exploreIn(metadata: ModuleMetadata): Promise<Map<string, FoundCron>> {
  return withExplorer(metadata, (explorer) => explorer.explore());
}

async function withExplorer<T>(metadata: ModuleMetadata, ask: (explorer: CronExplorer) => T): Promise<T> {
  const app = await Test.createTestingModule({
    ...metadata,
    imports: [DiscoveryModule, ...(metadata.imports ?? [])],
    providers: [
      CronExplorer,
      { provide: CLOCK, useValue: new ManualClock() },
      { provide: JOBS_SETTINGS, useValue: { minIntervalMs: 30_000 } },
      ...(metadata.providers ?? []),
    ],
  }).compile();
  try {
    return ask(app.get(CronExplorer));
  } finally {
    await app.close();
  }
}

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
  it('names the classes that no module provides; one that is provided as another token or by a subclass is not among them', async () => {
    // Other files of this process have classes of their own, so these have names that no other has.
    @Injectable()
    class ForgottenByExplorer {
      @SingletonCron('0 3 * * *', { name: 'forgotten' })
      tick(): void {}
    }
    abstract class BaseOfExplored {
      @SingletonCron('0 3 * * *', { name: 'inherited' })
      tick(): void {}
    }
    @Injectable()
    class DerivedOfExplored extends BaseOfExplored {}
    @Injectable()
    class MadeForExplorer {
      @SingletonCron('0 3 * * *', { name: 'made' })
      tick(): void {}
    }
    @Injectable()
    class StaticOfExplored {
      @SingletonCron('0 3 * * *', { name: 'at-the-class' })
      static tick(): void {}
    }
    const providers = [DerivedOfExplored, { provide: 'made', useFactory: () => new MadeForExplorer() }];
    const unprovided = await withExplorer({ providers }, (explorer) => explorer.unprovided());
    expect(unprovided).toEqual(expect.arrayContaining([ForgottenByExplorer.name, StaticOfExplored.name]));
    for (const { name } of [BaseOfExplored, DerivedOfExplored, MadeForExplorer]) expect(unprovided).not.toContain(name);
  });

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

  it('a class that two modules provide: each would run the method', async () => {
    @Module({ providers: [Reports] })
    class First {}
    @Module({ providers: [Reports] })
    class Second {}
    await expect(exploreIn({ imports: [First, Second] })).rejects.toThrow('which Reports.nightly already has');
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
