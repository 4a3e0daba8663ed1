/*
 * Sessions: redis-lease-sessions.ts, session-answers.ts and kept-session.ts. A world of its own beside the other one: pods with a
 * session each, one resource, and the fence that its ledger has accepted. A pod looks at the session that a record names, and takes
 * the record in a later step, so that anything may happen in between.
 */
#define MEMBERS 2
#define MAX_SESSIONS 4

/* take-lease.lua: the record names a session and carries the fence. */
typedef Record { byte session; byte nonce; byte fence };
Record cronTerm;
bool sessionLive[MAX_SESSIONS + 1];
byte sessionsOpened;
byte sessionTerms;
byte admittedFence, admittedTerm;
/* Whether a session was lost by the store, or a term taken from its holder: the fence alone decides then. */
bool sessionsLost, termTaken;

typedef Member { mtype at = idle; byte session; byte over; byte nonce; byte fence; bool trusts };
Member member[MEMBERS];

#define other (1 - me)

inline forgetTerm() {
  member[me].at = idle; member[me].nonce = 0; member[me].fence = 0; member[me].over = 0
}

inline trustTerm() {
  hold(LEASE, sessionsLost || termTaken || member[other].at != holding || !member[other].trusts || !member[me].trusts)
}

/* take-lease.lua, for a request that names the sessions known to be over. */
inline takeTerm() {
  if
  :: cronTerm.session == 0 || (cronTerm.session == member[me].over && member[me].over != 0) || (!KEPT(SESSION_CAS) && member[me].over != 0) ->
     sessionTerms++;
     cronTerm.session = member[me].session;
     cronTerm.nonce = sessionTerms;
     cronTerm.fence = (KEPT(SESSION_FENCE) -> cronTerm.fence + 1 : 1);
     member[me].nonce = sessionTerms; member[me].fence = cronTerm.fence; member[me].at = holding;
     printf("member %d takes the term: fence %d\n", me, cronTerm.fence);
     trustTerm()
  :: else -> member[me].at = idle; printf("member %d finds that the term changed hands\n", me)
  fi;
  member[me].over = 0
}

/* renew-session.lua */
inline renewMine() {
  if
  :: sessionLive[member[me].session] -> member[me].trusts = true
  :: else ->
     if
     :: KEPT(SESSION_CREATES) -> member[me].session = 0; member[me].trusts = false; forgetTerm()
     :: else -> sessionLive[member[me].session] = true; member[me].trusts = true
     fi
  fi;
  if
  :: member[me].at == holding -> trustTerm()
  :: else
  fi
}

/* The ledger: a claim under a lower fence, or under an equal one of another term, is stale. */
inline claimUnder() {
  if
  :: member[me].fence > admittedFence || (member[me].fence == admittedFence && member[me].nonce == admittedTerm) ->
     admittedFence = member[me].fence; admittedTerm = member[me].nonce
  :: else ->
     hold(FLOOR, member[me].nonce != sessionTerms);
     printf("the claim of member %d is stale\n", me);
     forgetTerm()
  fi
}

proctype Holder(byte me) {
end:
  do
  :: atomic { member[me].session == 0 && sessionsOpened < MAX_SESSIONS ->
       d_step { sessionsOpened++; member[me].session = sessionsOpened; sessionLive[sessionsOpened] = true; member[me].trusts = true;
         printf("member %d opens session %d\n", me, sessionsOpened); wipe() } }
  /* The own session is looked at first: one that is over asks for nothing. */
  :: atomic { member[me].at == idle && member[me].trusts && sessionTerms < 4 ->
       d_step {
         if
         :: cronTerm.session == 0 -> member[me].at = asking
         :: cronTerm.session != 0 && (!sessionLive[cronTerm.session] || !KEPT(SESSION_BUSY)) -> member[me].over = cronTerm.session; member[me].at = asking
         :: else
         fi;
         wipe() } }
  :: atomic { member[me].at == asking -> d_step { takeTerm(); wipe() } }
  :: atomic { member[me].at == holding -> d_step { printf("member %d claims under fence %d\n", me, member[me].fence); claimUnder(); wipe() } }
  :: atomic { member[me].session != 0 && !sessionLive[member[me].session] -> d_step { printf("member %d renews session %d\n", me, member[me].session); renewMine(); wipe() } }
  /* release-leases.lua: a release ends the term of its own nonce alone. It may be sent long after the term has ended. */
  :: atomic { member[me].at == holding && releases > 0 ->
       d_step { releases--; printf("member %d releases its term\n", me);
         if
         :: cronTerm.nonce == member[me].nonce || !KEPT(SESSION_RELEASE) -> cronTerm.session = 0; cronTerm.nonce = 0
         :: else
         fi;
         forgetTerm(); wipe() } }
  :: atomic { member[me].session != 0 && crashes > 0 ->
       d_step { crashes--; printf("member %d dies\n", me); member[me].session = 0; member[me].trusts = false; forgetTerm(); wipe() } }
  od
}

inline endSession(s) {
  sessionLive[s] = false
}

/* A session may end at any moment, and the trust in it at that moment or before. The loss of a session is no moment its holder knows of. */
proctype SessionTime() {
  byte s;
end:
  do
  :: atomic { s < MAX_SESSIONS -> s++ }
  :: atomic { s > 0 -> s-- }
  :: atomic { s > 0 && sessionLive[s] && (expiries > 0 || (member[0].session != s && member[1].session != s)) ->
       d_step {
         if :: member[0].session == s || member[1].session == s -> expiries-- :: else fi;
         endSession(s);
         if :: member[0].session == s -> member[0].trusts = false :: else fi;
         if :: member[1].session == s -> member[1].trusts = false :: else fi;
         printf("session %d expires\n", s); wipe() } }
  :: atomic { s > 0 && sessionLive[s] && failovers > 0 -> d_step { failovers--; sessionsLost = true; endSession(s); printf("the store loses session %d\n", s); wipe() } }
  /* evict-lease.lua: the notice may get lost, so none is sent. */
  :: atomic { cronTerm.session != 0 && losses > 0 -> d_step { losses--; termTaken = true; cronTerm.session = 0; cronTerm.nonce = 0; printf("the term is taken, and the notice is lost\n"); wipe() } }
  od
}
