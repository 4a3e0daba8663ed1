import { randomUUID } from 'node:crypto';
import { afterEach, expect } from 'vitest';
import type { Message, PodCard, Webhook } from '@fencepost/jobs/internal';
import type { AttemptOutcome } from '@fencepost/ledger';
import { MonitorAssignment } from './monitor-assignment.js';
import { MemoryAlarmStore } from './memory-alarm-store.js';
import { BalanceStage } from '../../../../test/support/scheduler-stage.js';
import type { StagePod } from '../../../../test/support/scheduler-stage.js';

export const LOOK_MS = 1_000;

const WEBHOOK: Webhook = {
  url: 'https://alerts.example/hooks',
  secret: `whsec_${'A'.repeat(32)}`,
  events: ['alarm.raised', 'alarm.cleared'],
};

/** Scheduler pods that watch each other's crons. */
export class AlarmStage extends BalanceStage {
  readonly store = new MemoryAlarmStore(this.clock);
  /** What is to be sent, once for each id, as a queue has it. */
  readonly messages = new Map<string, Message>();
  /** The next so many messages find no queue. */
  failing = 0;
  readonly #duties: MonitorAssignment[] = [];
  /** What pods report. */
  readonly cards: PodCard[] = [];
  readonly registry = { list: async () => this.cards };

  async watching(name: string): Promise<StagePod> {
    const pod = await this.started(name);
    const { clock, telemetry, ledger } = pod;
    const queue = { enqueue: (messages: readonly Message[]) => this.#enqueue(messages) };
    const monitor = new MonitorAssignment({
      ...{
        pod: pod.pod,
        name: `${name}/1`,
        ledger,
        store: this.store,
        registry: this.registry,
        queue,
        webhooks: [WEBHOOK],
      },
      ...{ clock, telemetry, lookEveryMs: LOOK_MS },
    });
    monitor.monitor.start();
    this.#duties.push(monitor);
    return pod;
  }

  async stopWatching(): Promise<void> {
    await Promise.all(this.#duties.splice(0).map((monitor) => monitor.monitor.stop()));
    await this.stopAll();
  }

  /** Carries a run out. */
  async end(runId: string, outcome: AttemptOutcome = { kind: 'succeeded' }): Promise<void> {
    const nonce = randomUUID();
    const begun = await this.memoryLedger.begin({ runId, nonce, worker: 'w/1', ttlMs: 60_000, maxAttempts: 9 });
    if (begun.verdict !== 'begun') throw new Error(`Expected ${runId} to begin, got ${begun.verdict}.`);
    await this.memoryLedger.finish({ runId, nonce, fence: begun.fence }, outcome);
  }

  #enqueue(messages: readonly Message[]): Promise<void> {
    if (this.failing > 0) {
      this.failing -= 1;
      return Promise.reject(new Error('Connection is closed.'));
    }
    for (const message of messages) this.messages.set(message.id, message);
    return Promise.resolve();
  }
}

/** Stages of a file's tests; what a test leaves running fails it. */
export function useAlarmStages(): () => AlarmStage {
  const stages: AlarmStage[] = [];
  afterEach(async () => {
    for (const stage of stages.splice(0)) {
      await stage.stopWatching();
      expect(stage.clock.pending).toBe(0);
    }
  });
  return () => {
    const stage = new AlarmStage({ ttlMs: 10_000 });
    stages.push(stage);
    return stage;
  };
}
