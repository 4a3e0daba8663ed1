/* execute.ts, attempt.ts and effect-call.ts: begin, effect, finish in the ledger, and only then the queue's job. */

inline takeUp(me, i) {
  if
  :: copies > 0 && ledger.runs[i].state != running -> copies--; copy.kind = begun; copy.instant = i; copy.nonce = serials + 1
  :: true
  fi;
  d_step {
    theNonce = serials + 1;
    printf("worker %d begins run %d\n", me, i);
    begin(i, theNonce);
    printf("= #%d\n", reply);
    if
    :: reply == BEGUN ->
       hand[me].at = begun; hand[me].instant = i; hand[me].fence = answered; hand[me].nonce = serials;
       hand[me].last = (ledger.runs[i].attempt >= most);
       printf("worker %d has attempt %d under fence %d\n", me, ledger.runs[i].attempt, answered);
       believe(me)
    :: reply == TERMINAL -> queue[i] = false
    :: else
    fi; wipe()
  }
}

/* What the handler did, or left open. */
inline ends(me, how) {
  hand[me].outcome = (how == retry && hand[me].last -> failed : how);
  hand[me].at = finishing
}

inline load(me) {
  theRun = hand[me].instant; theFence = hand[me].fence; theNonce = hand[me].nonce; theOutcome = hand[me].outcome
}

inline startEffect(me) {
  load(me);
  printf("worker %d begins the effect of run %d under fence %d\n", me, hand[me].instant, hand[me].fence);
  beginEffect(theRun, theFence, theNonce);
  printf("= #%d\n", reply);
  if
  :: reply == GO || reply == GO_UNKNOWN -> hand[me].unknown = (reply == GO_UNKNOWN); hand[me].at = acting
  :: reply == DONE -> ends(me, succeeded)
  :: reply == UNKNOWN -> ends(me, uncertain)
  :: else -> hand[me].at = leaving
  fi
}

inline callOut(me) {
  load(me);
  printf("worker %d acts for run %d under fence %d\n", me, hand[me].instant, hand[me].fence);
  act(theRun, theFence, theNonce);
  printf("= #%d\n", reply)
}

/* A call that says it has failed did not get through; one that says nothing may have. */
inline returned(me, how) {
  hand[me].outcome = how;
  if
  :: how == refused && hand[me].unknown -> ends(me, retry)
  :: else -> hand[me].at = recording
  fi
}

inline fallSilent(me) {
  printf("worker %d hears nothing of its call\n", me);
  if
  :: asks -> ends(me, uncertain)
  :: else -> ends(me, retry)
  fi
}

inline record(me) {
  load(me);
  printf("worker %d records the effect of run %d as #%d\n", me, hand[me].instant, hand[me].outcome);
  finishEffect(theRun, theFence, theNonce, theOutcome);
  printf("= #%d\n", reply);
  if
  :: reply == RECORDED && hand[me].outcome == done -> ends(me, succeeded)
  :: reply == RECORDED && hand[me].outcome != done -> ends(me, retry)
  :: reply == KNOWN -> hand[me].at = begun; hand[me].outcome = none; hand[me].unknown = false
  :: else -> hand[me].at = leaving
  fi
}

inline keepCopy(me, which) {
  if
  :: copies > 0 -> copies--; copy.kind = which; copy.instant = hand[me].instant; copy.fence = hand[me].fence; copy.nonce = hand[me].nonce; copy.outcome = hand[me].outcome
  :: true
  fi
}

proctype Worker(byte me) {
end:
  do
  :: atomic { hand[me].at == idle && queue[0] -> takeUp(me, 0) }
  :: atomic { hand[me].at == idle && queue[1] -> takeUp(me, 1) }
  :: atomic { hand[me].at == begun -> d_step { startEffect(me); wipe() } }
  :: atomic { hand[me].at == begun && failures > 0 -> d_step { failures--; ends(me, retry); printf("worker %d: its handler fails\n", me); wipe() } }
  :: atomic { hand[me].at == acting -> d_step { callOut(me); returned(me, reply); wipe() } }
  :: atomic { hand[me].at == acting && failures > 0 ->
       d_step { failures--; returned(me, refused); printf("worker %d is refused by the provider\n", me); wipe() } }
  :: atomic { hand[me].at == acting && silences > 0 ->
       silences--;
       if
       :: d_step { callOut(me); wipe() }
       :: true
       :: flight.at == idle -> flight.at = acting; flight.instant = hand[me].instant; flight.fence = hand[me].fence; flight.nonce = hand[me].nonce
       fi;
       d_step { fallSilent(me); wipe() } }
  :: atomic { hand[me].at == recording -> keepCopy(me, recording); d_step { record(me); wipe() } }
  :: atomic { hand[me].at == finishing ->
       keepCopy(me, finishing);
       d_step { load(me); printf("worker %d finishes run %d under fence %d as #%d\n", me, hand[me].instant, hand[me].fence, hand[me].outcome);
         finish(theRun, theFence, theNonce, theOutcome);
         printf("= #%d\n", reply);
         if :: hand[me].outcome == retry -> letGo(me) :: else -> hand[me].at = leaving; hand[me].trusts = false fi; wipe() } }
  :: atomic { hand[me].at == leaving -> d_step { queue[hand[me].instant] = false; letGo(me); printf("worker %d acknowledges\n", me); wipe() } }
  :: atomic { hand[me].at != idle && hand[me].at != leaving && !(isCurrent(hand[me].instant, hand[me].fence, hand[me].nonce) && ledger.runs[hand[me].instant].alive) ->
       d_step { printf("worker %d sends a heartbeat for run %d\n", me, hand[me].instant); heartbeat(me); wipe() } }
  :: atomic { hand[me].at != idle && crashes > 0 -> d_step { crashes--; printf("worker %d dies\n", me); letGo(me); wipe() } }
  od
}
