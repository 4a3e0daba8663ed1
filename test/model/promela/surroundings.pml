/* What happens to the processes: time, the network, the stores' own failures, people, and the sweep. */

#define held (pod[0].nonce == leases.nonce || pod[1].nonce == leases.nonce || pod[2].nonce == leases.nonce)

inline expireRun(i) {
  d_step { ledger.runs[i].alive = false; untrust(i); printf("the run lease of run %d expires\n", i); wipe() }
}

/* A lease whose holder lives expires as often as faults are allowed, that of one that is gone always does. */
proctype Time() {
end:
  do
  :: atomic { leases.nonce != 0 && !held -> d_step { expireLease(); printf("the lease expires\n"); wipe() } }
  :: atomic { leases.nonce != 0 && held && expiries > 0 -> d_step { expiries--; expireLease(); printf("the lease expires\n"); wipe() } }
  :: atomic { ledger.runs[0].state == running && ledger.runs[0].alive -> expireRun(0) }
  :: atomic { ledger.runs[1].state == running && ledger.runs[1].alive -> expireRun(1) }
  od
}

/* recovery.ts: what is overdue is handed over again. */
#define isLost(i) (!queue[i] && (isWaiting(ledger.runs[i].state) || ledger.runs[i].state == orphaned))
#define isGone(i) (ledger.runs[i].state == running && (!ledger.runs[i].alive || !KEPT(SWEEP_ALIVE)))
#define isStuck(i) (KEPT(SWEEP_DELIVERS) && (isLost(i) || isGone(i)))

proctype Sweep() {
end:
  do
  :: atomic { isStuck(0) -> d_step { printf("the sweep delivers run 0 again\n"); redeliver(0); wipe() } }
  :: atomic { isStuck(1) -> d_step { printf("the sweep delivers run 1 again\n"); redeliver(1); wipe() } }
  od
}

inline look(i) {
  d_step { person.at = acting; person.instant = i; person.saw = (calls[i] > denied[i]); printf("a person looks at the provider: %d\n", person.saw); wipe() }
}

/* A person can be asked for ever; in the model patience ends, and then the run is given up. */
inline giveUp(i) {
  if
  :: ledger.runs[i].state == uncertain -> become(i, failed)
  :: else
  fi
}

proctype People() {
end:
  do
  :: atomic { person.at == idle && ledger.runs[0].state == uncertain -> look(0) }
  :: atomic { person.at == idle && ledger.runs[1].state == uncertain -> look(1) }
  :: atomic { person.at == acting && ledger.runs[person.instant].extra < answers ->
       d_step { theRun = person.instant; printf("a person answers for run %d: %d\n", person.instant, person.saw); answer(theRun, person.saw);
         person.at = idle; person.instant = 0; person.saw = false; wipe() } }
  :: atomic { person.at == acting && ledger.runs[person.instant].extra == answers ->
       d_step { theRun = person.instant; giveUp(theRun); printf("a person gives run %d up\n", person.instant);
         person.at = idle; person.instant = 0; person.saw = false; wipe() } }
  :: atomic { cancels > 0 && (isWaiting(ledger.runs[0].state) || ledger.runs[0].state == orphaned || ledger.runs[0].state == uncertain) ->
       d_step { cancels--; printf("a person cancels run 0\n"); become(0, cancelled); wipe() } }
  od
}

/* Requests come twice, calls that were given up get through, and the queue forgets. */
inline repeat() {
  theRun = copy.instant; theFence = copy.fence; theNonce = copy.nonce; theOutcome = copy.outcome;
  if
  :: copy.kind == claiming -> printf("the claim of instant %d arrives once more\n", copy.instant); claimInStep(theFence, theNonce, theRun); printf("= #%d\n", reply)
  :: copy.kind == begun ->
     blocked = (ledger.runs[copy.instant].state == running && ledger.runs[copy.instant].nonce == copy.nonce);
     current = blocked;
     printf("the begin of run %d arrives once more\n", copy.instant);
     begin(theRun, theNonce);
     printf("= #%d\n", reply);
     hold(SAME, !current || reply == BEGUN)
  :: copy.kind == recording -> printf("the record of the effect of run %d arrives once more\n", copy.instant); finishEffect(theRun, theFence, theNonce, theOutcome); printf("= #%d\n", reply)
  :: else -> printf("the finish of run %d arrives once more\n", copy.instant); finish(theRun, theFence, theNonce, theOutcome); printf("= #%d\n", reply)
  fi;
  copy.kind = none; copy.instant = 0; copy.fence = 0; copy.nonce = 0; copy.outcome = none
}

inline land() {
  theRun = flight.instant; theFence = flight.fence; theNonce = flight.nonce;
  if
  :: flight.at == acting ->
     printf("the call that was given up gets through for run %d under fence %d\n", flight.instant, flight.fence);
     act(theRun, theFence, theNonce);
     printf("= #%d\n", reply);
     flight.at = (reply == done -> recording : idle)
  :: else ->
     printf("what it brought is recorded late\n");
     finishEffect(theRun, theFence, theNonce, done);
     printf("= #%d\n", reply);
     flight.at = idle
  fi;
  if
  :: flight.at == idle -> flight.instant = 0; flight.fence = 0; flight.nonce = 0
  :: else
  fi
}

proctype Network() {
end:
  do
  :: atomic { copy.kind != none -> d_step { repeat(); wipe() } }
  :: atomic { flight.at != idle -> d_step { land(); wipe() } }
  :: atomic { losses > 0 && queue[0] -> d_step { losses--; queue[0] = false; printf("the queue loses run 0\n"); wipe() } }
  :: atomic { losses > 0 && queue[1] -> d_step { losses--; queue[1] = false; printf("the queue loses run 1\n"); wipe() } }
  od
}

/* Replication comes after the answer: what a replica has is what a failover leaves. */
inline copyRun(to, from, i) {
  to.runs[i].state = from.runs[i].state; to.runs[i].attempt = from.runs[i].attempt; to.runs[i].extra = from.runs[i].extra;
  to.runs[i].fence = from.runs[i].fence; to.runs[i].nonce = from.runs[i].nonce; to.runs[i].alive = from.runs[i].alive;
  to.runs[i].pending = from.runs[i].pending; to.runs[i].effect = from.runs[i].effect; to.runs[i].first = from.runs[i].first;
  to.runs[i].by = from.runs[i].by; to.runs[i].may = from.runs[i].may; to.runs[i].serial = from.runs[i].serial
}
inline copyLedger(to, from) {
  to.fence = from.fence; to.term = from.term; to.cursor = from.cursor; to.runFence = from.runFence;
  copyRun(to, from, 0); copyRun(to, from, 1)
}

proctype Stores() {
end:
  do
  :: atomic { failovers > 0 && leases.counter > leasesCopy.counter ->
       d_step { leasesCopy.nonce = leases.nonce; leasesCopy.fence = leases.fence; leasesCopy.counter = leases.counter; printf("the replica of the leases catches up\n"); wipe() } }
  :: atomic { failovers > 0 && leases.counter > 0 ->
       d_step { failovers--; leasesLost = true;
         leases.nonce = leasesCopy.nonce; leases.fence = leasesCopy.fence; leases.counter = leasesCopy.counter; lastTerm = leases.nonce;
         leasesCopy.nonce = 0; leasesCopy.fence = 0; leasesCopy.counter = 0;
         printf("the leases fail over to fence %d\n", leases.counter); wipe() } }
  :: atomic { rollbacks > 0 && ledger.runFence > ledgerCopy.runFence -> d_step { copyLedger(ledgerCopy, ledger); printf("the replica of the ledger catches up\n"); wipe() } }
  :: atomic { rollbacks > 0 && ledger.cursor > 0 ->
       d_step { rollbacks--; ledgerLost = true; copyLedger(ledger, ledgerCopy); printf("the ledger fails over to %d instants decided\n", ledger.cursor); wipe() } }
  od
}
