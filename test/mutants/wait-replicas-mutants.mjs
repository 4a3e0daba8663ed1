const WRITES = 'libs/jobs/src/ledger/replicated-writes.ts';
const ACCESS = 'libs/jobs/src/ledger/redis-ledger-access.ts';
const LEDGER = 'test/ledger/wait-replicas.spec.ts';
const BEGIN = 'libs/jobs/src/running/begin-run.ts';
const WORKER = 'libs/jobs/src/running/begin-run.spec.ts';
const CORE = 'libs/jobs/src/nest/jobs-core.module.ts';
const MODULE = 'test/jobs/wait-replicas-module.spec.ts';

/**
 * What keeps a run and its effects through a failover where the ledger in Redis waits for replicas.
 * @type {readonly import('./mutation-lab.mjs').Mutant[]}
 */
export const WAIT_REPLICAS_MUTANTS = [
  {
    name: 'wait for replicas: nobody is waited for',
    defence: 'what was acknowledged outlives a failover',
    file: WRITES,
    find: 'pipeline.wait(replicas, timeoutMs).exec()',
    replace: "pipeline.echo('9').exec()",
    killedBy: LEDGER,
    test: 'keeps every run and effect that was acknowledged',
  },
  {
    name: 'wait for replicas: who acknowledges is not counted',
    defence: 'what too few replicas have does not count',
    file: WRITES,
    find: 'if (acknowledged < replicas)',
    replace: 'if (Number.isNaN(acknowledged))',
    killedBy: LEDGER,
    test: 'refuses what no replica acknowledges',
  },
  {
    name: 'wait for replicas: nothing of its own is written in front of the WAIT',
    defence: 'a repeated call that writes nothing is not acknowledged by accident',
    file: WRITES,
    find: "pipeline.set(mark, '', 'PX', MARK_MS);",
    replace: 'pipeline.exists(mark);',
    killedBy: LEDGER,
    test: 'acknowledges no earlier write that the replica has never heard of',
  },
  {
    name: 'wait for replicas: goes on writing while they are away',
    defence: 'an outage of the replicas uses up one step and not all of them',
    file: WRITES,
    find: 'if (this.#doubted.has(about)) await this.#write([], mark);',
    replace: '',
    killedBy: LEDGER,
    test: 'applies nothing more until the replica is back',
  },
  {
    name: 'wait for replicas: one node of a cluster vouches for all',
    defence: 'claims are not used up at a node whose replicas are away, whatever the others say',
    file: WRITES,
    find: "this.options.redis.isCluster ? mark.slice(0, mark.indexOf('}')) : ''",
    replace: "''",
    killedBy: 'test/ledger/cluster-waiting.spec.ts',
    test: 'uses up one claim at a node whose replica is away',
  },
  {
    name: 'wait for replicas: each write has a wait of its own',
    defence: 'a busy process does not wait once for each of its runs',
    file: WRITES,
    find: 'most: isCluster ? 1 : MOST,',
    replace: 'most: 1,',
    killedBy: LEDGER,
    test: 'lets what comes together share one wait',
  },
  {
    name: 'wait for replicas: what decides does not wait',
    defence: 'a begin that a failover may lose begins nothing',
    file: ACCESS,
    find: "  'heartbeat-attempts',\n  'note-waiting',\n  'forget-runs',\n]);\n\nexport interface",
    replace:
      "  'heartbeat-attempts',\n  'begin-attempts',\n  'note-waiting',\n  'forget-runs',\n]);\n\nexport interface",
    killedBy: LEDGER,
    test: 'when asked again after the replica is back: begin',
  },
  {
    name: 'wait for replicas: beats wait as well',
    defence: 'a run goes on while a replica is away',
    file: ACCESS,
    find: "  'confirm-runs',\n  'heartbeat-attempts',\n",
    replace: "  'confirm-runs',\n",
    killedBy: LEDGER,
    test: 'reads, beats and confirms without waiting',
  },
  {
    name: 'worker: a begin that no replica acknowledges is given up',
    defence: 'an outage of the replicas uses up no attempts',
    file: BEGIN,
    find: 'if (!(error instanceof NotReplicatedError) || isOver) throw error;',
    replace: 'if (error instanceof NotReplicatedError || isOver) throw error;',
    killedBy: WORKER,
    test: 'is asked for again and uses up one attempt',
  },
  {
    name: 'worker: a begin that no replica acknowledges is asked for for ever',
    defence: 'a run that begins too late for its lease is left to its next delivery',
    file: BEGIN,
    find: 'carrier.givenUp.over || clock.monotonic() >= until',
    replace: 'carrier.givenUp.over',
    killedBy: WORKER,
    test: 'is given up when half of its run lease is over',
  },
  {
    name: 'JobsModule: waitReplicas is not handed on',
    defence: 'who asks for replicas is not told that they are waited for when they are not',
    file: CORE,
    find: '...(replication ? { replication } : {})',
    replace: '...(replication ? {} : {})',
    killedBy: MODULE,
    test: 'does nothing while the replica is away',
  },
  {
    name: 'JobsModule: the connection that waits for replicas stays open',
    defence: 'a process that stops leaves no connection behind',
    file: CORE,
    find: 'this.ledgerRedis && closeRedis(this.ledgerRedis)',
    replace: 'this.ledgerRedis',
    killedBy: MODULE,
    test: 'leaves no connection behind when it closes',
  },
];
