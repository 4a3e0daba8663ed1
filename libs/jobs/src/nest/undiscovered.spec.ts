import { Injectable, Module } from '@nestjs/common';
import type { ModuleMetadata, Provider } from '@nestjs/common';
import { describe, expect, it } from 'vitest';
import { explore, withExplorer } from './explorer.stage.js';
import { JobHandler } from './job-handler.decorator.js';
import { SingletonCron } from './singleton-cron.decorator.js';
import { UndiscoveredError, type UndiscoveredMethod } from './undiscovered.js';

/** Every test has classes of its own: one that an application of the process has found is not undiscovered any more. */
async function undiscovered(...providers: Provider[]): Promise<UndiscoveredMethod[]> {
  return undiscoveredIn({ providers });
}

function undiscoveredIn(metadata: ModuleMetadata): Promise<UndiscoveredMethod[]> {
  return withExplorer(metadata, (explorer) => {
    explorer.explore();
    return explorer.undiscovered();
  });
}

/** Only of these classes: other files of the process have decorated classes too. */
function reasons(methods: readonly UndiscoveredMethod[], ...classes: Function[]): [string, string][] {
  const names = classes.map(({ name }) => name);
  return methods
    .filter(({ className }) => names.includes(className))
    .map(({ className, method, reason }) => [`${className}.${method}`, reason]);
}

@Injectable()
class FakeJobs {}

/** Takes the place of the method with something that is none. */
const emptied: MethodDecorator = (_prototype, _key, descriptor: PropertyDescriptor) =>
  ({ ...descriptor, value: null }) as never;

describe('CronExplorer.undiscovered', () => {
  it('reports the methods of a class that no module provides', async () => {
    @Injectable()
    class Forgotten {
      @SingletonCron('0 3 * * *', { name: 'forgotten' })
      tick(): void {}

      @JobHandler('forgotten-job')
      work(): void {}
    }
    const found = await undiscovered();
    const reason =
      'no module of this application provides it; add Forgotten to the providers of a module ' +
      `(if a lazy module does, load it before bootstrap, or set undiscovered: 'warn')`;
    expect(reasons(found, Forgotten)).toEqual([
      ['Forgotten.tick', reason],
      ['Forgotten.work', reason],
    ]);
    const [, job] = found.filter(({ className }) => className === 'Forgotten');
    expect(job).toEqual({ className: 'Forgotten', method: 'work', decorator: '@JobHandler', reason });
  });

  it('reports a static method', async () => {
    @Injectable()
    class StaticOne {
      @SingletonCron('0 3 * * *', { name: 'static' })
      static tick(): void {}
    }
    expect(reasons(await undiscovered(), StaticOne)).toEqual([
      ['StaticOne.tick', 'it is static, and a decorator needs a method of an instance'],
    ]);
  });

  it('reports a method that the only subclass provided overrides without a decorator', async () => {
    class Overridden {
      @SingletonCron('0 3 * * *', { name: 'overridden' })
      tick(): void {}
    }
    @Injectable()
    class Overriding extends Overridden {
      override tick(): void {}
    }
    expect(reasons(await undiscovered(Overriding), Overridden)).toEqual([
      ['Overridden.tick', 'Overriding overrides it without a decorator; decorate the override too'],
    ]);
  });

  it('reports a method that another decorator has replaced by something that is not a function', async () => {
    @Injectable()
    class Replaced {
      @emptied
      @SingletonCron('0 3 * * *', { name: 'replaced' })
      tick(): void {}
    }
    expect(reasons(await undiscovered(Replaced), Replaced)).toEqual([
      ['Replaced.tick', 'another decorator has replaced the method by something that is not a function'],
    ]);
  });

  it('omits the methods of a class that a factory or a subclass provides', async () => {
    @Injectable()
    class Made {
      @SingletonCron('0 3 * * *', { name: 'made' })
      tick(): void {}
    }
    abstract class Base {
      @SingletonCron('0 3 * * *', { name: 'inherited' })
      tick(): void {}
    }
    @Injectable()
    class Derived extends Base {}
    const found = await undiscovered(Derived, { provide: 'made', useFactory: () => new Made() });
    expect(reasons(found, Made, Base, Derived)).toEqual([]);
  });

  it('omits a method that one subclass inherits, though another one overrides it', async () => {
    class Common {
      @SingletonCron('0 3 * * *', { name: 'common' })
      tick(): void {}
    }
    @Injectable()
    class Inherits extends Common {}
    @Injectable()
    class Overrides extends Common {
      override tick(): void {}
    }
    expect(reasons(await undiscovered(Inherits, Overrides), Common)).toEqual([]);
  });

  it('omits a method that another application of the process has found', async () => {
    @Injectable()
    class Elsewhere {
      @SingletonCron('0 3 * * *', { name: 'elsewhere' })
      tick(): void {}
    }
    expect(reasons(await undiscovered(), Elsewhere)).toHaveLength(1);
    await explore(Elsewhere);
    expect(reasons(await undiscovered(), Elsewhere)).toEqual([]);
  });

  @Injectable()
  class Substituted {
    @SingletonCron('0 3 * * *', { name: 'substituted' })
    tick(): void {}
  }

  it.each([
    ['a value', { useValue: { fake: true } }],
    ['a class', { useClass: FakeJobs }],
    ['an alias', { useExisting: 'fake' }],
  ])('omits the methods of a class in whose place a module provides %s', async (_what, substitute) => {
    const fake = { provide: 'fake', useValue: { fake: true } };
    @Module({ providers: [fake, { provide: Substituted, ...substitute } as Provider] })
    class Feature {}
    expect(reasons(await undiscoveredIn({ imports: [Feature] }), Substituted)).toEqual([]);
  });
});

describe('UndiscoveredError', () => {
  const methods = (count: number): UndiscoveredMethod[] =>
    Array.from({ length: count }, (_, n) => ({
      className: 'Jobs',
      method: `m${n}`,
      decorator: '@SingletonCron' as const,
      reason: 'none',
    }));

  it('names each class, method and reason', () => {
    const error = new UndiscoveredError(methods(2));
    expect(error).toMatchObject({ code: 'CRONS_UNDISCOVERED', name: 'UndiscoveredError', methods: methods(2) });
    expect(error.message).toBe(
      '2 decorated methods would never run:\n- Jobs.m0 (@SingletonCron): none\n- Jobs.m1 (@SingletonCron): none',
    );
  });

  it('names at most twenty, and counts the others', () => {
    const lines = new UndiscoveredError(methods(23)).message.split('\n');
    expect([lines.length, lines[0], lines.at(-1)]).toEqual([
      22,
      '23 decorated methods would never run:',
      '- and 3 more',
    ]);
    expect(new UndiscoveredError(methods(1)).message).toMatch(/^A decorated method would never run:\n/);
  });
});
