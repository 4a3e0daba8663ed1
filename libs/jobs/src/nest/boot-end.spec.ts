import { Inject, Injectable, Module, type OnApplicationBootstrap } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { BootEnd, BootEndModule } from './boot-end.js';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const order: string[] = [];

@Injectable()
class Deep implements OnApplicationBootstrap {
  @Inject(BootEnd) private readonly end!: BootEnd;
  @Inject('task') private readonly task!: () => Promise<void>;

  onApplicationBootstrap(): void {
    this.end.add(this.task);
    order.push('deep');
  }
}

@Module({ imports: [BootEndModule], providers: [Deep, { provide: 'task', useValue: async () => {} }] })
class DeepModule {}

@Module({ imports: [DeepModule] })
class Root implements OnApplicationBootstrap {
  async onApplicationBootstrap(): Promise<void> {
    await Promise.resolve();
    order.push('root');
  }
}

describe('BootEnd', () => {
  async function boot(task: () => Promise<void>): Promise<void> {
    order.length = 0;
    const app = await Test.createTestingModule({ imports: [Root] })
      .overrideProvider('task')
      .useValue(task)
      .compile();
    closing.push(() => app.close());
    await app.init();
  }

  it('runs its tasks when every other module has bootstrapped, the root last', async () => {
    await boot(async () => void order.push('end'));
    expect(order).toEqual(['deep', 'root', 'end']);
  });

  it('fails the boot if a task fails', async () => {
    await expect(boot(() => Promise.reject(new Error('refused')))).rejects.toThrow('refused');
  });
});
