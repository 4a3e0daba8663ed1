/**
 * Rules for a monitored cron. `missed`: it has not succeeded within `expectEvery`, or an instant is not
 * accounted for. `late`: a run has not finished in time. `failed`: its newest finished run has failed.
 * `uncertain`: a run waits for an operator. `no-capable-worker`: a run waits for a worker that has its handler.
 * `standstill`: it should have run and did not, or its run does not end; raised for every cron, monitored or not.
 */
export type AlarmKind = 'standstill' | 'missed' | 'late' | 'failed' | 'uncertain' | 'no-capable-worker';

export interface Alarm {
  readonly kind: AlarmKind;
  /** When it began, epoch milliseconds of the store. */
  readonly since: number;
  /** One sentence for people. */
  readonly text: string;
  /** The run concerned, if there is one. */
  readonly runId: string | null;
  /** With `uncertain`: after which attempt, because it may become uncertain again after the next one. */
  readonly attempt?: number;
}

/** An alarm that was raised or cleared, to be sent out. */
export interface AlarmChange extends Alarm {
  readonly cron: string;
  readonly news: 'raised' | 'cleared';
  /** The same for the same change, whichever pod sends it and however often. */
  readonly id: string;
  /** Its cron was muted when it was raised: receivers do not hear of it. */
  readonly muted?: true;
  /** It was raised while its cron was muted, and that is over. */
  readonly delayed?: true;
}
