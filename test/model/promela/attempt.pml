/* The ledger: from the claim to the end of a run. Each inline is a script, with what it refuses in the order it does. */

/* Every change of a state goes through here, whoever makes it. */
inline become(i, s) {
  hold(I6, !isOver(ledger.runs[i].state));
  ledger.runs[i].state = s;
  if
  :: isOver(s) || s == uncertain -> ledger.runs[i].alive = false; ledger.runs[i].pending = false; untrust(i)
  :: else
  fi
}

/* The run lease is over; whoever had it stops believing in it. */
inline untrust(i) {
  j = 0;
  do
  :: j < workers -> if :: hand[j].instant == i && hand[j].nonce == ledger.runs[i].nonce -> hand[j].trusts = false :: else fi; j++
  :: else -> break
  od
}

/* claim-occurrences.lua; `planned` is the cursor that the plan started from, and the instant after it is claimed. */
inline claim(asked, owner, planned) {
  blocked = false;
  j = 0;
  do
  :: j < planned -> blocked = blocked || isWaiting(ledger.runs[j].state) || (ledger.runs[j].state == running && ledger.runs[j].alive); j++
  :: else -> break
  od;
  if
  :: asked < ledger.fence && KEPT(CLAIM_FENCE) -> reply = STALE
  :: asked == ledger.fence && owner != ledger.term && KEPT(CLAIM_TERM) -> reply = STALE
  :: else ->
     if
     :: planned != ledger.cursor && KEPT(CLAIM_CURSOR) ->
        /* A claim that was accepted before is answered, and writes nothing: its run may have begun since. */
        if
        :: fused && !KEPT(CLAIM_AGAIN) && asked == ledger.fence && planned < ledger.cursor -> become(planned, enqueued)
        :: else
        fi;
        reply = MOVED
     :: else ->
        hold(I3, asked >= ledger.fence);
        hold(I3, asked > ledger.fence || owner == ledger.term);
        hold(I1, ledger.runs[planned].state == none);
        ledger.fence = asked;
        ledger.term = owner;
        ledger.cursor = planned + 1;
        if
        :: blocked && !inLine -> ledger.runs[planned].state = skipped; reply = SKIPPED
        :: else -> ledger.runs[planned].state = claimed; ledger.runs[planned].pending = true; reply = CLAIMED
        fi
     fi
  fi
}

/* enqueue-claimed.lua: where queue and ledger share a server, an accepted claim adds the job as well, and there is nothing to confirm. */
inline claimInStep(asked, owner, planned) {
  claim(asked, owner, planned);
  if
  :: fused && reply == CLAIMED ->
     become(planned, enqueued);
     ledger.runs[planned].pending = false;
     queue[planned] = true
  :: else
  fi
}

/* confirm-runs.lua */
inline confirm(i) {
  if
  :: ledger.runs[i].pending || (!KEPT(CONFIRM_PENDING) && ledger.runs[i].state != none) ->
     become(i, enqueued);
     ledger.runs[i].pending = false
  :: else
  fi
}

/* begin-attempts.lua, await_turn: what of the cron goes on, and what is older and waits. */
inline awaitTurn(i) {
  blocked = false;
  j = 0;
  do
  :: j < instants ->
     if
     :: j != i && ledger.runs[j].state == running && ledger.runs[j].alive -> blocked = true
     :: j < i && inLine && isWaiting(ledger.runs[j].state) -> blocked = true
     :: else
     fi;
     j++
  :: else -> break
  od;
  blocked = blocked && KEPT(BEGIN_TURN)
}

/* begin-attempts.lua */
inline begin(i, n) {
  if
  :: ledger.runs[i].state == none -> reply = TERMINAL
  :: ledger.runs[i].state == running && ledger.runs[i].nonce == n && KEPT(BEGIN_NONCE) -> answered = ledger.runs[i].fence; reply = BEGUN
  :: (isOver(ledger.runs[i].state) && KEPT(BEGIN_TERMINAL)) || ledger.runs[i].state == uncertain -> reply = TERMINAL
  :: else ->
     awaitTurn(i);
     if
     :: ledger.runs[i].state == running && ledger.runs[i].alive && KEPT(BEGIN_BUSY) -> reply = BUSY
     :: else ->
        if
        :: ledger.runs[i].attempt >= most + ledger.runs[i].extra && KEPT(BEGIN_ATTEMPTS) -> become(i, failed); reply = TERMINAL
        :: else -> if :: blocked -> reply = BUSY :: else -> start(i, n) fi
        fi
     fi
  fi
}

inline start(i, n) {
  answered = ledger.runFence + (KEPT(BEGIN_FENCE) || ledger.runFence == 0 -> 1 : 0);
  hold(I4, answered > ledger.runFence);
  ledger.runFence = answered;
  become(i, running);
  serials++;
  ledger.runs[i].attempt++;
  hold(I10, ledger.runs[i].attempt <= most + ledger.runs[i].extra);
  ledger.runs[i].fence = answered; ledger.runs[i].nonce = n; ledger.runs[i].serial = serials;
  ledger.runs[i].alive = true; ledger.runs[i].pending = false;
  reply = BEGUN
}

/* read-attempt.lua */
#define isCurrent(i, f, n) (ledger.runs[i].state == running && ledger.runs[i].fence == f && ledger.runs[i].nonce == n)
#define isLast(i, n) (ledger.runs[i].state == running && ledger.runs[i].serial == n)

/* heartbeat-attempts.lua */
inline heartbeat(w) {
  if
  :: isCurrent(hand[w].instant, hand[w].fence, hand[w].nonce) && (ledger.runs[hand[w].instant].alive || !KEPT(BEAT_EXPIRED)) ->
     ledger.runs[hand[w].instant].alive = true;
     believe(w)
  :: else -> letGo(w)
  fi
}

inline believe(w) {
  hand[w].trusts = true;
  j = 0;
  do
  :: j < workers -> hold(ALONE, j == w || !hand[j].trusts || ledgerLost); j++
  :: else -> break
  od
}

inline letGo(w) {
  hand[w].at = idle; hand[w].instant = 0; hand[w].fence = 0; hand[w].nonce = 0; hand[w].outcome = none; hand[w].unknown = false;
  hand[w].last = false; hand[w].trusts = false
}

/* finish-attempts.lua */
inline finish(i, f, n, how) {
  if
  :: isCurrent(i, f, n) || !KEPT(FINISH_FENCE) ->
     hold(I5, isLast(i, n));
     become(i, (how == retry -> enqueued : how));
     ledger.runs[i].alive = false;
     untrust(i);
     reply = RECORDED
  :: else -> reply = STALE
  fi
}

/* redeliver-run.lua, and the queue takes the delivery. */
inline redeliver(i) {
  if
  :: ledger.runs[i].state == running ->
     if :: ledger.runs[i].alive -> ledger.runs[i].alive = false :: else fi;
     become(i, orphaned)
  :: else
  fi;
  queue[i] = true
}
