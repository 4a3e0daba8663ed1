import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { ExpressAdapter } from '@bull-board/express';
import { BULL_BOARD_INSTANCE, BullBoardModule, type BullBoardInstance } from '@bull-board/nestjs';
import { Inject, Module } from '@nestjs/common';
import type { DynamicModule, OnModuleInit } from '@nestjs/common';
import { RUN_QUEUE, type BullmqRunQueue } from '@fencepost/jobs/scheduler';

/** Bull Board at `/queues`, over the queue the runs go through. */
@Module({})
export class QueuesBoardModule implements OnModuleInit {
  constructor(
    @Inject(BULL_BOARD_INSTANCE) private readonly board: BullBoardInstance,
    @Inject(RUN_QUEUE) private readonly runs: BullmqRunQueue,
  ) {}

  /** @param pod the module that provides the queue */
  static on(pod: DynamicModule): DynamicModule {
    const options = { uiConfig: { boardTitle: 'Fencepost' } };
    return {
      module: QueuesBoardModule,
      imports: [pod, BullBoardModule.forRoot({ route: '/queues', adapter: ExpressAdapter, boardOptions: options })],
    };
  }

  onModuleInit(): void {
    this.board.addQueue(new BullMQAdapter(this.runs.queue));
  }
}
