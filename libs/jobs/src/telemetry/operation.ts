interface Verbs {
  readonly alarm: 'evaluate';
  readonly 'alarm-queue': 'connect' | 'open';
  readonly attempt: 'begin' | 'finish' | 'heartbeat';
  readonly catalog: 'apply' | 'declare' | 'read' | 'read-version';
  readonly cron: 'read' | 'recover' | 'sweep' | 'unblock';
  readonly database: 'connect';
  readonly due: 'publish';
  readonly effect: 'begin' | 'finish';
  readonly generation: 'raise';
  readonly handler: 'find';
  readonly heartbeat: 'apply';
  readonly items: 'advance' | 'read';
  readonly job: 'log' | 'update-progress';
  readonly journal: 'append' | 'read';
  readonly lease: 'abandon' | 'acquire' | 'apply' | 'evict' | 'inspect' | 'release' | 'take-over';
  readonly membership: 'heartbeat' | 'leave';
  readonly message: 'send';
  readonly metrics: 'count-deliveries' | 'count-pods' | 'count-uncertain-runs' | 'read-last-success';
  readonly notification: 'enqueue';
  readonly orders: 'read';
  readonly occurrence: 'claim' | 'plan';
  readonly outbox: 'read' | 'relay';
  readonly permit: 'acquire' | 'release' | 'renew';
  readonly ping: 'read';
  readonly pod: 'drain' | 'leave' | 'report';
  readonly queue: 'connect' | 'reroute';
  readonly run: 'enqueue' | 'note-waiting' | 'read';
  readonly standstill: 'look';
  readonly store: 'check';
  readonly 'wait-queue': 'leave' | 'read';
  readonly worker: 'pause' | 'run';
}

/** An operation that may fail, `object.verb`. A closed set: logs are grouped by it, and it is a label of a metric. */
export type Operation = { [O in keyof Verbs]: `${O}.${Verbs[O]}` }[keyof Verbs];
