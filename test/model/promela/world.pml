/*
 * What there is: two stores, a queue, a sink, and what each process remembers. Words as in run-state.ts and the scripts.
 *
 * Time has no number here. A lease may end at any moment, and whoever trusted it stops trusting it in that same moment:
 * that is what counting a deadline from when the request was sent gives. Nobody has to notice, which is a pause. Server
 * clocks stand still, so that a fence increases by what the stores compare and not by luck.
 */
#define SCHEDULERS 3
#define WORKERS 2
#define INSTANTS 2

/* A search in breadth knows nothing that is hidden. */
#ifdef SHORTEST
#define hidden
#endif

/* The defence that is taken out; none of them is 0. Hidden is what never changes: it would only make states larger. */
hidden byte out;
#define KEPT(defence) (out != defence)

/* How much there is of each, and how much may go wrong. Read from the environment: one compilation serves every room. */
hidden byte schedulers, members, workers, instants, most, asks, inLine, answers, fused;
byte crashes, expiries, failovers, rollbacks, losses, failures, silences, copies, releases, cancels;

mtype = { none, claimed, enqueued, running, orphaned, uncertain, succeeded, failed, cancelled, skipped };
mtype = { begun, done, refused };
mtype = { idle, asking, holding, claiming, enqueuing, confirming, releasing };
mtype = { acting, recording, finishing, leaving };
mtype = { retry };
mtype = { GRANTED, CLAIMED, SKIPPED, MOVED, STALE, BEGUN, BUSY, TERMINAL, GO, GO_UNKNOWN, UNKNOWN, DONE, RECORDED, LATE, KNOWN };

/* take-lease.lua: one resource, its lease and its counter. A replica has what was copied last. */
typedef Leases { byte nonce; byte fence; byte counter };
Leases leases, leasesCopy;
/* The term granted last in this history of the store, for the claim that it is one uninterrupted holding. */
byte lastTerm;
byte terms;
/* Whether a store has lost what it had acknowledged. */
bool leasesLost, ledgerLost;

typedef Run {
  mtype state = none; byte attempt; byte extra; byte fence; byte nonce; bool alive; bool pending;
  mtype effect = none; byte first; byte by; short may;
  /* Which begin is the last one, counted by nobody but the model. */
  byte serial
};
typedef Ledger { byte fence; byte term; byte cursor; byte runFence; Run runs[INSTANTS] };
Ledger ledger, ledgerCopy;
byte serials;

/* Deliveries are at least once: whoever looks may take one until somebody has acknowledged it. */
bool queue[INSTANTS];

/* The sink: a row that compares fences, and a provider that knows idempotency keys. Both outlive everything. */
byte sinkFence, sinkSerial;
byte keyed[INSTANTS];
/* How often the effect was called, and how often a person said that it had not happened. */
byte calls[INSTANTS];
byte denied[INSTANTS];

typedef Pod { mtype at = idle; byte nonce; byte fence; byte floor; byte cursor; byte instant; bool trusts };
Pod pod[SCHEDULERS];

typedef Hand { mtype at = idle; byte instant; byte fence; byte nonce; mtype outcome = none; bool unknown; bool last; bool trusts };
Hand hand[WORKERS];

/* A request that comes a second time, whenever it likes, and a call that was given up and still gets through. */
typedef Copy { mtype kind = none; byte instant; byte fence; byte nonce; byte floor; mtype outcome = none };
Copy copy;
typedef Flight { mtype at = idle; byte instant; byte fence; byte nonce };
Flight flight;

typedef Person { mtype at = idle; byte instant; bool saw };
Person person;

/* Scratch of one indivisible step. */
hidden mtype reply = none;
hidden byte answered, j;
/* A field of a record can't be handed to an inline that uses it as an index. */
hidden byte theRun, theFence, theNonce, theCursor;
hidden mtype theOutcome = none;
hidden byte blocked, current;

#define isOver(s) (s == succeeded || s == failed || s == cancelled || s == skipped)
#define isWaiting(s) (s == claimed || s == enqueued)

/* The claims, as in the protocols: what they say stands in claims.ts. */
mtype = { I1, I3, I4, I5, I6, I7, I8, I9, I10, LEASE, TERM, FLOOR, ALONE, SAME, SINK, KEY };

inline hold(name, it) {
  if
  :: it
  :: else -> printf("BROKEN #%d\n", name); assert(false)
  fi
}

inline wipe() {
  reply = none; answered = 0; j = 0; theRun = 0; theFence = 0; theNonce = 0; theCursor = 0; theOutcome = none;
  blocked = false; current = false
}
