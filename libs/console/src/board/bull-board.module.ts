import { BULL_BOARD_ADAPTER, BULL_BOARD_INSTANCE, BullBoardModule, type BullBoardInstance } from '@bull-board/nestjs';
import { Inject, Module } from '@nestjs/common';
import type { DynamicModule, OnModuleInit } from '@nestjs/common';
import { CronCatalog, CronOperator } from '@fencepost/operations';
import { READS, type Reads } from '@fencepost/operations/internal';
import { JOBS_SETTINGS, type BullmqRunQueue, type JobsSettings } from '@fencepost/jobs/internal';
import type { ControllerHandlerReturnType, HTTPStatus } from '@bull-board/api/typings/app';
import { CronDirectory } from '../api/cron-directory.js';
import { ReadGate } from '../api/read-gate.js';
import { READ_QUEUE } from '../api/reading.module.js';
import { CommandService } from '../api/command-service.js';
import { BoardAccess } from './board-access.js';
import { BoardOfOurs } from './board-of-ours.js';
import { CronAdapter } from './cron-adapter.js';
import { problemOf } from '../api/problem.js';
import type { Middleware } from '../http/web-request.js';
import { currentCaller } from '../auth/caller.js';
import { unknownCaller } from '../auth/refusals.js';

/** For what is no controller and has no guard: goes on only for somebody whom the access boundary has let in. */
const requireCaller: Middleware = (_request, _response, next) => (currentCaller() ? next() : next(unknownCaller()));

/** The statuses that the board knows. */
const KNOWN: readonly number[] = [400, 403, 404, 409];

/** What a person is told on the board: the same sentence as by the API. */
function problemOnBoard(error: Error): ControllerHandlerReturnType {
  const { statusCode, message } = problemOf(error);
  const status = KNOWN.includes(statusCode) ? (statusCode as HTTPStatus) : 500;
  return { status, body: { error: message } };
}

@Module({})
class BoardAccessModule {}

/** Bull Board at `/queues`, over the queue the runs go through. */
@Module({})
export class QueuesBoardModule implements OnModuleInit {
  @Inject(BULL_BOARD_INSTANCE) private readonly board!: BullBoardInstance;
  @Inject(BULL_BOARD_ADAPTER) private readonly mounted!: BoardOfOurs;
  @Inject(READ_QUEUE) private readonly runs!: BullmqRunQueue;
  @Inject(ReadGate) private readonly gate!: ReadGate;
  @Inject(CronDirectory) private readonly directory!: CronDirectory;
  @Inject(CommandService) private readonly service!: CommandService;
  @Inject(CronOperator) private readonly operator!: CronOperator;
  @Inject(CronCatalog) private readonly crons!: CronCatalog;
  @Inject(READS) private readonly reads!: Reads;

  /**
   * @param pod the module that provides the queue
   * @param api the module that looks at crons and carries out orders
   */
  static on(pod: DynamicModule, api: DynamicModule): DynamicModule {
    const access = { module: BoardAccessModule, imports: [pod], providers: [BoardAccess], exports: [pod, BoardAccess] };
    const board = BullBoardModule.forRootAsync({
      imports: [access],
      inject: [BoardAccess, JOBS_SETTINGS],
      useFactory: (hooks: BoardAccess, { tenant }: JobsSettings) => ({
        route: '/queues',
        adapter: BoardOfOurs,
        boardOptions: {
          uiConfig: { ...LOOK, environment: { label: tenant, color: '#3b6ea5', textColor: '#ffffff' } },
          handlerHooks: hooks,
        },
        // The access boundary stands before everything; where an app was put together without it, the board stays shut.
        middleware: requireCaller,
      }),
    });
    return { module: QueuesBoardModule, imports: [pod, api, board] };
  }

  onModuleInit(): void {
    // An app of its own, which would say what it is made of.
    (this.mounted.getRouter() as { disable(setting: string): void }).disable('x-powered-by');
    // Its own answer to an error shows where in the program it came from.
    this.mounted.setErrorHandler(problemOnBoard);
    const { runs, directory, service, operator, crons, gate } = this;
    const { ledger } = this.reads;
    this.board.addQueue(new CronAdapter({ runs, directory, service, operator, crons, gate, ledger }));
  }
}

const LOOK = { boardTitle: 'Fencepost', hideDocsLink: true, miscLinks: [{ text: 'Crons', url: '/crons/' }] };
