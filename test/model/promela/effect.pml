/* Effects: what the ledger knows of them, the person who is asked, and the sink. */

/* Every change of an effect goes through here. */
inline note(i, s, f) {
  hold(I8, ledger.runs[i].effect != done || (s == done && ledger.runs[i].by == f));
  ledger.runs[i].effect = s;
  ledger.runs[i].by = (s == begun -> 0 : f)
}

/* begin-effect.lua */
inline beginEffect(i, f, n) {
  if
  :: !(isCurrent(i, f, n) && ledger.runs[i].alive) && KEPT(EFFECT_FENCE) -> reply = STALE
  :: else ->
     if
     :: ledger.runs[i].effect == done && KEPT(EFFECT_DONE) -> reply = DONE
     :: ledger.runs[i].effect == begun && ledger.runs[i].first == f -> reply = GO
     :: ledger.runs[i].effect == begun && ledger.runs[i].first != f && asks && KEPT(EFFECT_ASK) -> reply = UNKNOWN
     :: ledger.runs[i].effect == begun && ledger.runs[i].first != f && !(asks && KEPT(EFFECT_ASK)) ->
        mayFinish(i, n);
        reply = GO_UNKNOWN
     :: else ->
        note(i, begun, f);
        ledger.runs[i].first = f;
        mayFinish(i, n);
        reply = GO
     fi
  fi
}

inline mayFinish(i, n) {
  hold(I5, isLast(i, n) && ledger.runs[i].alive);
  ledger.runs[i].may = ledger.runs[i].may | (1 << n)
}

/* finish-effect.lua */
inline finishEffect(i, f, n, how) {
  current = isCurrent(i, f, n);
  if
  :: ledger.runs[i].effect == done && (ledger.runs[i].by != f || how == refused) && KEPT(FINISH_EFFECT_DONE) -> reply = KNOWN
  :: else ->
     if
     :: !current && how == refused && KEPT(FINISH_EFFECT_FENCE) -> reply = STALE
     :: !current && how == done && !(ledger.runs[i].may & (1 << n)) -> reply = STALE
     :: else ->
        hold(I5, how == done || isLast(i, n));
        note(i, how, f);
        reply = (current -> RECORDED : LATE)
     fi
  fi
}

/* resolve-run.lua: the answer of a person, who has looked at the sink a while ago. */
inline answer(i, happened) {
  if
  :: ledger.runs[i].state == uncertain ->
     if
     :: ledger.runs[i].effect != done || !KEPT(ANSWER_DONE) ->
        if :: happened -> note(i, done, 0) :: else -> note(i, refused, 0); denied[i]++ fi
     :: else
     fi;
     become(i, enqueued);
     ledger.runs[i].extra++;
     queue[i] = true
  :: else
  fi
}

/*
 * The side effect itself. An effect that asks goes to a provider that knows neither fences nor keys: each call counts.
 * Any other goes to a row that compares fences, as write-row.lua does, and from there to a provider that knows keys.
 */
inline act(i, f, n) {
  if
  :: asks ->
     calls[i]++;
     hold(I7, calls[i] <= 1 + denied[i] || ledgerLost);
     reply = done
  :: !asks && f < sinkFence && KEPT(SINK_FENCE) -> reply = refused
  :: else ->
     hold(SINK, f >= sinkFence);
     hold(SINK, n >= sinkSerial || ledgerLost);
     sinkFence = f;
     sinkSerial = n;
     if
     :: keyed[i] == 0 || !KEPT(SINK_KEY) -> keyed[i]++; hold(KEY, keyed[i] == 1)
     :: else
     fi;
     reply = done
  fi
}
