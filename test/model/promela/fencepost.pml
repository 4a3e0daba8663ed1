/*
 * The protocol of lease, claim, begin and effect. What is abstracted away stands in the README beside this folder.
 * Read from the environment: how much there is of everything, and which defence is taken out.
 */
#include "defences.pml"
#include "world.pml"
#include "lease.pml"
#include "session.pml"
#include "attempt.pml"
#include "effect.pml"
#include "scheduler.pml"
#include "worker.pml"
#include "surroundings.pml"

c_decl { \#include <stdlib.h> }

#define ended(i) (isOver(ledger.runs[i].state))
#define rest(i) (i >= instants || ended(i))

/* I9 where nothing moves any more: cheaper than fairness, so the larger rooms have it as well. */
#ifndef LIVENESS
proctype Quiet() {
end:
  timeout -> atomic { d_step { hold(I9, workers == 0 || (ended(0) && rest(1))); wipe() } }
}
#else
/* Who can go on for ever does some day (weak fairness): then each run that was claimed ends. */
ltl i9 { [] (ledger.cursor > 0 -> <> ended(0)) && <> ended(0) }
#endif

/* What is hidden is no part of a state, and the generated program has it under its own name. */
#define READ(name) getenv(#name) ? atoi(getenv(#name)) : 0
#define BUDGET(name) now.name = READ(name)
#ifdef SHORTEST
#define FIXED(name) now.name = READ(name)
#else
#define FIXED(name) name = READ(name)
#endif

init {
  atomic {
    c_code {
      FIXED(out); FIXED(schedulers); FIXED(members); FIXED(workers); FIXED(instants); FIXED(most); FIXED(asks); FIXED(inLine); FIXED(answers); FIXED(fused);
      BUDGET(crashes); BUDGET(expiries); BUDGET(failovers); BUDGET(rollbacks); BUDGET(losses); BUDGET(failures);
      BUDGET(silences); BUDGET(copies); BUDGET(releases); BUDGET(cancels);
    };
    byte n = 0;
    do :: n < schedulers -> run Scheduler(n); n++ :: else -> break od;
    n = 0;
    do :: n < workers -> run Worker(n); n++ :: else -> break od;
    n = 0;
    do :: n < members -> run Holder(n); n++ :: else -> break od;
    if :: members > 0 -> run SessionTime() :: else fi;
    n = 0;
    run Time(); run Sweep(); run People(); run Network(); run Stores();
#ifndef LIVENESS
    run Quiet()
#endif
  }
}
