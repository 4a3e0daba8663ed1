import { JobHandler, SingletonCron, type RunContext } from '@fencepost/jobs';
import { testJobs } from '@fencepost/testing';
import { CreateRequestContext, EntityManager, RequestContext } from 'mikro-orm6';
import { describe, expect, it } from 'vitest';

/** As a logging decorator: it puts a function of its own in the place of the method, with no metadata. */
function logged(log: string[]): MethodDecorator {
  return (_prototype, key, descriptor: PropertyDescriptor) => {
    const method = descriptor.value as (...args: unknown[]) => unknown;
    descriptor.value = function (this: unknown, ...args: unknown[]): unknown {
      log.push(`begins ${String(key)}`);
      return method.apply(this, args);
    };
    return descriptor;
  };
}

/** As a decorator that binds methods: an accessor takes the place of the method. */
function bound(): MethodDecorator {
  return (_prototype, _key, descriptor: PropertyDescriptor) => {
    const method = descriptor.value as (...args: unknown[]) => unknown;
    return {
      configurable: true,
      get(this: unknown) {
        return method.bind(this);
      },
    } as never;
  };
}

/** An entity manager without a database: it can be forked, which is all that a request context asks of it. */
function entityManager(): EntityManager {
  const em = Object.create(EntityManager.prototype) as EntityManager;
  const fork = Object.create(EntityManager.prototype) as EntityManager;
  Object.defineProperties(em, { name: { value: 'default' }, fork: { value: () => fork } });
  return em;
}

describe('a handler that another decorator wraps', () => {
  it('runs with the decorator, above @SingletonCron and below', async () => {
    const log: string[] = [];
    class Reports {
      @logged(log)
      @SingletonCron('0 3 * * *', { name: 'above' })
      above(run: RunContext): void {
        log.push(`runs ${run.cron}`);
      }

      @SingletonCron('0 3 * * *', { name: 'below' })
      @logged(log)
      below(run: RunContext): void {
        log.push(`runs ${run.cron}`);
      }
    }
    const jobs = await testJobs({ crons: [new Reports()] });
    for (const cron of ['above', 'below']) expect(await jobs.fire(cron)).toMatchObject({ state: 'succeeded' });
    expect(log).toEqual(['begins above', 'runs above', 'begins below', 'runs below']);
  });

  it('runs with the decorator, above @JobHandler and below', async () => {
    const log: string[] = [];
    class Mails {
      @logged(log)
      @JobHandler('send')
      send(run: RunContext): void {
        log.push(`sends ${String(run.payload)}`);
      }

      @JobHandler('sweep')
      @logged(log)
      sweep(): void {
        log.push('sweeps');
      }
    }
    const jobs = await testJobs({ crons: [new Mails()] });
    expect(await jobs.enqueue('send', 'ada')).toMatchObject({ state: 'succeeded' });
    expect(await jobs.enqueue('sweep')).toMatchObject({ state: 'succeeded' });
    expect(log).toEqual(['begins send', 'sends ada', 'begins sweep', 'sweeps']);
  });

  it('runs with a decorator between two @SingletonCron, for both crons', async () => {
    const log: string[] = [];
    class Reports {
      @SingletonCron('0 3 * * *', { name: 'nightly' })
      @logged(log)
      @SingletonCron('0 12 * * *', { name: 'daily' })
      report(run: RunContext): void {
        log.push(`runs ${run.cron}`);
      }
    }
    const jobs = await testJobs({ crons: [new Reports()] });
    for (const cron of ['nightly', 'daily']) await jobs.fire(cron);
    expect(log).toEqual(['begins report', 'runs nightly', 'begins report', 'runs daily']);
  });

  it('runs on its instance if the decorator binds it with an accessor', async () => {
    const names: string[] = [];
    class Reports {
      readonly name = 'reports';

      @bound()
      @SingletonCron('0 3 * * *', { name: 'bound' })
      report(): void {
        names.push(this.name);
      }
    }
    const jobs = await testJobs({ crons: [new Reports()] });
    expect(await jobs.fire('bound')).toMatchObject({ state: 'succeeded' });
    expect(names).toEqual(['reports']);
  });

  it('runs in a context of @CreateRequestContext of MikroORM, above @SingletonCron and below', async () => {
    const seen: [string, boolean][] = [];
    class Reports {
      readonly em = entityManager();

      @CreateRequestContext()
      @SingletonCron('0 3 * * *', { name: 'above' })
      async above(run: RunContext): Promise<void> {
        this.#note(run);
      }

      @SingletonCron('0 3 * * *', { name: 'below' })
      @CreateRequestContext()
      async below(run: RunContext): Promise<void> {
        this.#note(run);
      }

      #note({ cron }: RunContext): void {
        const em = RequestContext.getEntityManager();
        seen.push([cron, em !== undefined && em !== this.em]);
      }
    }
    const jobs = await testJobs({ crons: [new Reports()] });
    for (const cron of ['above', 'below']) expect(await jobs.fire(cron)).toMatchObject({ state: 'succeeded' });
    expect(seen).toEqual([
      ['above', true],
      ['below', true],
    ]);
  });
});
