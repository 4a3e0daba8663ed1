import { scrubText, type CancelTimer } from '@fencepost/lease/internal';
import { readChanges, type Catalog, type CronPing } from '@fencepost/ledger/catalog';
import type { Notification, RunHistory } from '@fencepost/ledger';
import type { Events } from '../telemetry/events.js';
import { reportQueueFailure, reportStoreFailure } from '../telemetry/report-failure.js';
import type { EventListener, Telemetry } from '../telemetry/telemetry.js';
import {
  notifiedId,
  pingMessage,
  webhookMessages,
  type AlarmQueue,
  type Message,
  type MessageType,
  type PingOn,
  type Webhook,
} from './messages.js';
import type { Clock } from '@fencepost/lease';
import type { StopWatching } from '@fencepost/lease/store';

export interface RunNotifierDeps {
  readonly ledger: Pick<RunHistory, 'notifications' | 'settleNotifications'>;
  readonly queue: AlarmQueue;
  readonly webhooks: readonly Webhook[];
  readonly telemetry: Telemetry;
}

const STATES: Readonly<Record<Notification['state'], { readonly type: MessageType; readonly on: PingOn }>> = {
  succeeded: { type: 'run.succeeded', on: 'success' },
  failed: { type: 'run.failed', on: 'failure' },
  uncertain: { type: 'run.uncertain', on: 'uncertain' },
};

/** Handed on in one step. */
const BATCH = 100;

/**
 * What a run of this cron asks the ledger to note as it begins, for `BeginRequest.notify`: `failed` for its webhooks,
 * `ping:failed` for its address. Empty where nobody wants to hear of it: such a run costs nothing.
 * @param ping `null` while nobody knows what addresses the cron has: whoever sends looks again
 */
export function notifyOf(webhooks: readonly Webhook[], cron: string, ping: CronPing | null | undefined): string {
  const wanted = (Object.keys(STATES) as Notification['state'][]).flatMap((state) => {
    const { type, on } = STATES[state];
    const hooked = webhooks.some(({ events, crons }) => events.includes(type) && (crons?.includes(cron) ?? true));
    return [...(hooked ? [state] : []), ...(ping === null || ping?.[on] !== undefined ? [`ping:${state}`] : [])];
  });
  return wanted.join(',');
}

/**
 * Hands the notifications that wait in the ledger to the queue of messages. They are settled only afterwards, so each comes
 * at least once: its id is that of the run and its state, and the queue and the receivers know it again.
 *
 * A worker does it as soon as one of its runs ends; the scheduler pod that holds the cron does it in its sweeps, for runs that
 * a person or a sweep has ended, and for workers that died. Never awaited by a run.
 */
export class RunNotifier {
  /** By cron, and whether there may be more than the pass under way sees. */
  readonly #passes = new Map<string, { again: boolean }>();
  readonly #working = new Set<Promise<void>>();
  #stopListening = () => {};

  constructor(private readonly deps: RunNotifierDeps) {}

  /**
   * In a worker: looks as soon as one of its runs has come into such a state.
   * @param asked what runs of a cron ask for now
   */
  start(asked: (cron: string) => string): void {
    const hear: EventListener = (name, detail) => {
      const state = stateAfter(name, detail);
      const { cron } = detail as { readonly cron?: string };
      if (state !== null && cron !== undefined && asked(cron).includes(state)) this.drain(cron);
    };
    this.#stopListening = this.deps.telemetry.listen(hear);
  }

  /** Resolves when nothing of it runs any more. */
  async stop(): Promise<void> {
    this.#stopListening();
    while (this.#working.size > 0) await Promise.all(this.#working);
  }

  /** Something may wait. What can't be handed on is left to the next look. */
  drain(cron: string): void {
    const under = this.#passes.get(cron);
    if (under) return void (under.again = true);
    const pass = { again: true };
    this.#passes.set(cron, pass);
    const work = this.#drain(cron, pass)
      .catch((error: unknown) => {
        reportQueueFailure(this.deps.telemetry, { operation: 'notification.enqueue', cron }, error);
      })
      .finally(() => {
        this.#passes.delete(cron);
        this.#working.delete(work);
      });
    this.#working.add(work);
  }

  async #drain(cron: string, pass: { again: boolean }): Promise<void> {
    const { ledger, queue } = this.deps;
    while (pass.again) {
      pass.again = false;
      const waiting = await ledger.notifications(cron, BATCH);
      if (waiting.length === 0) continue;
      const messages = waiting.flatMap((notification) => this.#messagesOf(cron, notification));
      if (messages.length > 0) await queue.enqueue(messages);
      await ledger.settleNotifications(
        cron,
        waiting.map(({ receipt }) => receipt),
      );
      if (waiting.length === BATCH) pass.again = true;
    }
  }

  #messagesOf(cron: string, notification: Notification): Message[] {
    const { state, at, notify } = notification;
    const { type, on } = STATES[state];
    const id = notifiedId(notification);
    const hooks = webhookMessages(this.deps.webhooks, { id, cron, type, at, data: dataOf(cron, notification) });
    return notify.split(',').includes(`ping:${state}`) ? [...hooks, pingMessage(on, { cron, id })] : hooks;
  }
}

/** What the run of an event is now; `null` for an event that is about nothing of the kind. */
function stateAfter(name: keyof Events, detail: Events[keyof Events]): string | null {
  if (name === 'attempt.succeeded') return 'succeeded';
  if (name === 'attempt.uncertain') return 'uncertain';
  // The latter may be the delivery that has ended its run, because its attempts were used up.
  if (name === 'attempt.failed' || name === 'attempt.needless') return (detail as { readonly state: string }).state;
  return null;
}

function dataOf(cron: string, notification: Notification): Readonly<Record<string, unknown>> {
  const { runId, state, attempt, tookMs, error, unresolvedEffect } = notification;
  const about = { cron, runId, attempt };
  if (state === 'succeeded') return { ...about, tookMs };
  if (state === 'failed') return { ...about, error: scrubText(error ?? 'no error was recorded') };
  const { effect = null, item = null, unknownReason = null } = unresolvedEffect ?? {};
  return { ...about, effect, item, unknownReason };
}

interface PingCacheDeps {
  readonly catalog: Pick<Catalog, 'since' | 'watch'>;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  /** Called after each reading that has found a change. */
  readonly onChange?: () => void;
}

/** A hint of a change may get lost. */
const AGAIN_MS = 60_000;

/** Which addresses crons have, as a worker knows them: it also carries out runs of crons that are made at run time. */
export class PingCache {
  readonly #pings = new Map<string, CronPing>();
  /** Of the catalog as it was read last; `null` while it could not be read yet. */
  #version: number | null = null;
  #cancel: CancelTimer = () => {};
  #stopWatching: StopWatching = () => Promise.resolve();
  #reading: Promise<void> = Promise.resolve();
  #waits = false;
  #stopped = false;

  constructor(private readonly deps: PingCacheDeps) {}

  /** `undefined` for a cron without; `null` while the catalog could not be read yet. */
  of(cron: string): CronPing | null | undefined {
    return this.#version === null ? null : this.#pings.get(cron);
  }

  /** Resolves after the first reading, also when it was not answered. */
  async start(): Promise<void> {
    try {
      this.#stopWatching = await this.deps.catalog.watch(() => this.#refresh());
    } catch (error) {
      this.#trouble(error);
    }
    this.#refresh();
    await this.#reading;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancel();
    await this.#reading;
    await this.#stopWatching();
  }

  /** One reading at a time; hints that come during one share the next. */
  #refresh(): void {
    if (this.#waits || this.#stopped) return;
    this.#waits = true;
    this.#cancel();
    this.#reading = this.#reading.then(() => this.#read());
  }

  async #read(): Promise<void> {
    this.#waits = false;
    if (this.#stopped) return;
    try {
      const { version, whole, entries, gone, unreadable } = await readChanges(this.deps.catalog, this.#version);
      if (whole) this.#pings.clear();
      for (const name of [...gone, ...unreadable.map((record) => record.name)]) this.#pings.delete(name);
      for (const [name, { definition }] of entries) {
        if (definition.ping) this.#pings.set(name, definition.ping);
        else this.#pings.delete(name);
      }
      const isNews = this.#version !== version;
      this.#version = version;
      if (isNews) this.deps.onChange?.();
    } catch (error) {
      this.#trouble(error);
    }
    if (!this.#stopped && !this.#waits) this.#cancel = this.deps.clock.after(AGAIN_MS, () => this.#refresh());
  }

  #trouble(error: unknown): void {
    reportStoreFailure(this.deps.telemetry, { operation: 'ping.read' }, error);
  }
}
