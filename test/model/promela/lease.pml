/* The lease store. */

/* take-lease.lua */
inline takeLease(n, least) {
  if
  :: leases.nonce != 0 && leases.nonce != n && KEPT(LEASE_BUSY) -> reply = BUSY
  :: else ->
     if
     :: leases.nonce == n -> skip
     :: else ->
        leases.counter = ((KEPT(LEASE_FLOOR) && least > leases.counter) -> least : leases.counter) + 1;
        leases.fence = leases.counter;
        leases.nonce = n;
        lastTerm = n
     fi;
     answered = leases.fence;
     reply = GRANTED
  fi
}

/* renew-leases.lua: what it does to a term that is current changes nothing here, because time has no number. */
inline renewLease(me) {
  if
  :: leases.nonce == pod[me].nonce -> reply = GRANTED
  :: leases.nonce != 0 && leases.nonce != pod[me].nonce -> reply = (KEPT(RENEW_NONCE) -> STALE : GRANTED)
  :: leases.nonce == 0 && KEPT(RENEW_CREATES) -> reply = STALE
  :: else ->
     leases.nonce = pod[me].nonce;
     leases.fence = pod[me].fence;
     reply = GRANTED
  fi;
  if
  :: reply == GRANTED ->
     hold(TERM, pod[me].nonce == lastTerm);
     trust(me)
  :: else -> forget(me)
  fi
}

/* release-leases.lua */
inline releaseLease(n) {
  if
  :: leases.nonce == n || (!KEPT(RELEASE_NONCE) && leases.nonce != 0) -> endTerm()
  :: else
  fi
}

inline endTerm() {
  leases.nonce = 0;
  leases.fence = 0
}

inline trust(me) {
  pod[me].trusts = true;
  j = 0;
  do
  :: j < schedulers ->
     if
     :: j != me && !leasesLost -> hold(LEASE, !pod[j].trusts)
     :: else
     fi;
     j++
  :: else -> break
  od
}

/* The lease runs out, and with it what its holder may believe. */
inline expireLease() {
  j = 0;
  do
  :: j < schedulers -> if :: pod[j].nonce == leases.nonce -> pod[j].trusts = false :: else fi; j++
  :: else -> break
  od;
  endTerm()
}

/* A pod that gives up, or dies, remembers nothing. */
inline forget(me) {
  pod[me].at = idle; pod[me].nonce = 0; pod[me].fence = 0; pod[me].floor = 0; pod[me].cursor = 0; pod[me].instant = 0;
  pod[me].trusts = false
}
