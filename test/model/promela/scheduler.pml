/* engine.ts and dispatcher.ts: campaign, claim, enqueue, confirm; the last three in one step, or in three. Trust saves a round trip there; here nobody looks at it. */
proctype Scheduler(byte me) {
end:
  do
  :: atomic { pod[me].at == idle && ledger.cursor < instants ->
       d_step { pod[me].floor = ledger.fence; pod[me].at = asking;
         printf("pod %d reads that fence %d was accepted\n", me, pod[me].floor); wipe() } }
  :: atomic { pod[me].at == asking && (leases.nonce == 0 || !KEPT(LEASE_BUSY)) ->
       d_step { terms++; pod[me].nonce = terms; theFence = pod[me].floor; takeLease(terms, theFence);
         pod[me].fence = answered; pod[me].at = holding;
         printf("pod %d takes the lease: fence %d\n", me, answered); trust(me); wipe() } }
  :: atomic { pod[me].at == holding ->
       d_step { pod[me].cursor = ledger.cursor; pod[me].at = claiming;
         printf("pod %d reads the cursor: %d instants decided\n", me, ledger.cursor); wipe() } }
  :: atomic { pod[me].at == claiming && pod[me].cursor < instants ->
       if
       :: copies > 0 -> copies--; copy.kind = claiming; copy.instant = pod[me].cursor; copy.fence = pod[me].fence; copy.nonce = pod[me].nonce
       :: true
       fi;
       d_step { theFence = pod[me].fence; theNonce = pod[me].nonce; theCursor = pod[me].cursor;
         printf("pod %d claims instant %d under fence %d\n", me, pod[me].cursor, pod[me].fence);
         claimInStep(theFence, theNonce, theCursor);
         printf("= #%d\n", reply);
         if
         :: reply == CLAIMED && fused -> pod[me].cursor++
         :: reply == CLAIMED && !fused -> pod[me].instant = pod[me].cursor; pod[me].cursor++; pod[me].at = enqueuing
         :: reply == SKIPPED -> pod[me].cursor++
         :: reply == MOVED -> pod[me].cursor = ledger.cursor
         :: else ->
            hold(FLOOR, ledger.fence != pod[me].floor || ledger.term == pod[me].nonce);
            pod[me].at = releasing; pod[me].trusts = false
         fi; wipe() } }
  :: atomic { pod[me].at == claiming && pod[me].cursor > ledger.cursor ->
       d_step { pod[me].at = holding; printf("pod %d is told that the cursor is not where it was\n", me); wipe() } }
  :: atomic { pod[me].at == enqueuing -> d_step { queue[pod[me].instant] = true; pod[me].at = confirming;
       printf("pod %d enqueues run %d\n", me, pod[me].instant); wipe() } }
  :: atomic { pod[me].at == confirming -> d_step { theRun = pod[me].instant; printf("pod %d confirms\n", me); confirm(theRun); pod[me].instant = 0; pod[me].at = claiming; wipe() } }
  :: atomic { pod[me].at == releasing -> d_step { theNonce = pod[me].nonce; printf("pod %d releases\n", me); releaseLease(theNonce); forget(me); wipe() } }
  :: atomic { pod[me].at == claiming && releases > 0 -> d_step { releases--; pod[me].at = releasing; pod[me].trusts = false;
       printf("pod %d is about to release\n", me); wipe() } }
  :: atomic { pod[me].nonce != 0 && leases.nonce != pod[me].nonce && pod[me].at != releasing ->
       d_step { printf("pod %d renews its term of fence %d\n", me, pod[me].fence); renewLease(me); wipe() } }
  :: atomic { pod[me].at != idle && crashes > 0 -> d_step { crashes--; forget(me); printf("pod %d dies\n", me); wipe() } }
  od
}
