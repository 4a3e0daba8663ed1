import 'reflect-metadata';
import { setTimeout as wait } from 'node:timers/promises';
import { Inject, Injectable, Module, type OnApplicationBootstrap, type OnModuleInit, type Type } from '@nestjs/common';
import { LazyModuleLoader, NestFactory } from '@nestjs/core';
import { JobsModule, SingletonCron, type RunContext } from '@fencepost/jobs';

/** Applications whose crons are not where one looks first: `CASE` names the one to boot, `UNDISCOVERED` is the option. */
const { REDIS_URL: redis = '', PREFIX: prefix = '', CASE = '', UNDISCOVERED } = process.env;

const ran = ({ cron }: RunContext) => console.log(`ran ${cron}`);

const jobs = () =>
  JobsModule.forRoot({
    ...{ roles: ['scheduler', 'worker'], redis, prefix, drainDeadline: '2s' },
    ...(UNDISCOVERED === 'warn' ? { undiscovered: 'warn' } : {}),
  });

function classOf(name: string): Type {
  @Injectable()
  class Ticking {
    @SingletonCron({ name, every: '1s' })
    tick(run: RunContext): void {
      ran(run);
    }
  }
  return Ticking;
}

function moduleOf(...providers: Type[]): Type {
  @Module({ providers })
  class FeatureModule {}
  return FeatureModule;
}

/** Boots an application and says so. */
async function boot(imports: (Type | ReturnType<typeof jobs>)[], ...providers: Type[]): Promise<LazyModuleLoader> {
  @Module({ imports, providers })
  class AppModule {}
  const app = await NestFactory.createApplicationContext(AppModule, { abortOnError: false });
  app.enableShutdownHooks();
  console.log('started');
  return app.get(LazyModuleLoader);
}

/** Loads a module lazily in one of the hooks of the boot, after a while as the reading of a file takes. */
function loaderIn(hook: 'onModuleInit' | 'onApplicationBootstrap', module: Type): Type {
  @Injectable()
  class Loader implements OnModuleInit, OnApplicationBootstrap {
    @Inject(LazyModuleLoader) private readonly loader!: LazyModuleLoader;

    onModuleInit = () => this.#load('onModuleInit');
    onApplicationBootstrap = () => this.#load('onApplicationBootstrap');

    async #load(at: string): Promise<void> {
      if (at === hook) await wait(50).then(() => this.loader.load(() => module));
    }
  }
  return Loader;
}

const CASES: Readonly<Record<string, () => Promise<unknown>>> = {
  forgotten: async () => {
    classOf('forgotten');
    await boot([jobs()], classOf('provided'));
  },
  'lazy-in-init': async () => {
    const lazy = moduleOf(classOf('lazy'));
    await boot([jobs()], classOf('eager'), loaderIn('onModuleInit', lazy));
  },
  'lazy-in-bootstrap': async () => {
    const lazy = moduleOf(classOf('lazy'));
    await boot([jobs()], classOf('eager'), loaderIn('onApplicationBootstrap', lazy));
  },
  'lazy-later': async () => {
    const lazy = moduleOf(classOf('lazy'));
    const loader = await boot([jobs()], classOf('eager'));
    await loader.load(() => lazy);
  },
  // As a file that is imported when it is needed.
  'imported-later': async () => {
    const loader = await boot([jobs()]);
    await loader.load(() => moduleOf(classOf('lazy')));
  },
  'two-applications': async () => {
    const [a, b] = [
      { jobs: jobs(), cron: classOf('in-a') },
      { jobs: jobs(), cron: classOf('in-b') },
    ];
    await boot([a.jobs], a.cron);
    await boot([b.jobs], b.cron);
  },
};

await CASES[CASE]?.();
