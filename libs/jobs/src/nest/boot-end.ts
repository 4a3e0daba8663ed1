import { Inject, Injectable, Module, type OnApplicationBootstrap } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';

/** Runs tasks after every other `onApplicationBootstrap` of the application; an error of one fails the boot. */
@Injectable()
export class BootEnd implements OnApplicationBootstrap {
  readonly #tasks: (() => Promise<void>)[] = [];

  constructor(@Inject(ModulesContainer) modules: ModulesContainer) {
    // Nest bootstraps modules by their distance from the root, the nearest last. Should it stop doing so, tasks run sooner.
    for (const module of modules.values()) {
      if (module.metatype === BootEndModule) module.distance = Number.MIN_SAFE_INTEGER;
    }
  }

  add(task: () => Promise<void>): void {
    this.#tasks.push(task);
  }

  async onApplicationBootstrap(): Promise<void> {
    for (const task of this.#tasks) await task();
  }
}

@Module({ providers: [BootEnd], exports: [BootEnd] })
export class BootEndModule {}
