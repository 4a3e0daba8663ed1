/* Generated from docs/openapi.json: run "npx vitest run test/api/open-api.spec.ts --update". */

export interface paths {
  '/api/crons': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** Crons by name, a page at a time. */
    get: operations['crons_list'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/crons/{cron}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** One cron, with all that is defined and known of it. */
    get: operations['crons_detail'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/crons/{cron}/timeline': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** Every instant of a time, and what became of it. */
    get: operations['crons_timeline'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/crons/{cron}/runs': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** Its runs, the newest first, skipped instants that have a record included. */
    get: operations['crons_runs'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/crons/{cron}/journal': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** What pods have said about it that is notable. */
    get: operations['crons_entries'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/crons/{cron}/actions': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** What people did to it. */
    get: operations['crons_actions'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/crons/{cron}/why': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** Why it ran at an instant, or why it did not. */
    get: operations['crons_why'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/crons/{cron}/pause': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Its instants are recorded as skipped until it is resumed. Needs operator. */
    post: operations['cronorders_pause'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/crons/{cron}/resume': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Ends a pause. Needs operator. */
    post: operations['cronorders_resume'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/crons/{cron}/trigger': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Runs it once, now, beside its schedule. Needs operator. */
    post: operations['cronorders_trigger'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/crons/{cron}/backfill': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Runs past instants that did not run, or says which. Needs operator. */
    post: operations['cronorders_backfill'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/crons/{cron}/remove': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** It stops firing; its history stays. Needs admin. */
    post: operations['cronorders_remove'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/runs': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** Runs of all crons that failed for good, or that wait for a person. */
    get: operations['runs_list'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/runs/{id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** One run: its effects, what it asks, what was said about it, and what it wrote. */
    get: operations['runs_one'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/runs/{id}/cancel': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** What waits is cancelled at once; what runs is told, and has its grace to stop. Needs operator. */
    post: operations['runorders_cancel'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/runs/{id}/retry': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Runs a failed or cancelled run again, as a run of its own; what is done stays done. Needs operator. */
    post: operations['runorders_retry'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/runs/{id}/resolve': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Answers the question of an uncertain run that the order names; 409 where the run asks another one by now. Needs operator. */
    post: operations['runorders_resolve'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/leases': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** Leases by cron, a page at a time. */
    get: operations['leases_list'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/leases/{cron}/clear': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Takes the lease from its holder; the next pod takes the cron at once. Needs admin. */
    post: operations['leases_clear'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/overview': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** The deployment at one look. */
    get: operations['deployment_overview'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/pods': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** Pods of both roles that have reported lately. */
    get: operations['deployment_pods'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/outlook': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** What is due in the next hours, where many crons meet, and where clocks change. */
    get: operations['deployment_forecast'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/doctor': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** What is wrong, and what to do about it. */
    get: operations['deployment_doctor'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/journal': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** What happened lately, over all pods. */
    get: operations['deployment_journal'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/audit': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** Who changed what, from where. */
    get: operations['deployment_audit'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/events': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** Entries of the journal as they come: server-sent events named journal, each a JournalEntry with its id; and each second one named heartbeat, which says whether the store answers. */
    get: operations['events_events'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/me': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** Who asks. */
    get: operations['session_me'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api/session': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Signs in with a token: answers with a cookie that no program of a page can read. */
    post: operations['session_signIn'];
    /** Signs out. */
    delete: operations['session_signOut'];
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
}
export type webhooks = Record<string, never>;
export interface components {
  schemas: {
    /** @description One page of crons, by name. */
    CronPage: {
      /** @description How many fit, on all pages. */
      total: number;
      items: components['schemas']['CronSummary'][];
    };
    /** @description A cron at one look. */
    CronSummary: {
      /** @description Its name. */
      name: string;
      /** @description Its cron expression. */
      expression: string;
      /** @description The IANA time zone it goes by. */
      timeZone: string;
      /**
       * @description disabled: by its own declaration; removed: by a newer build or a person.
       * @enum {string}
       */
      state: 'firing' | 'disabled' | 'removed';
      /** @description It has no instants: it runs when somebody asks for it. */
      manual: boolean;
      paused: components['schemas']['Pause'] | null;
      /** @description The newest generation of its definition. */
      generation: number;
      /**
       * Format: date-time
       * @description From when on that generation is effective.
       */
      since: string;
      /** @description The next nominal instant; null for one that does not fire. */
      next: string | null;
      /** @description Every instant up to here has a run or a recorded reason why not. */
      cursor: string | null;
      /** @description Its newest run, skipped ones included. */
      last: components['schemas']['Run'] | null;
      /** @description The scheduler that acts for it now: label and the first characters of its identity. */
      holder: string | null;
      /** @description The fence of that lease. */
      fence: string | null;
      /** @description How long that lease lasts if nobody renews it. */
      leaseLeftMs: number | null;
      /** @description Why its newest run has not begun, where that is known. */
      waiting: string | null;
      /** @description How many of its runs wait for a person. */
      uncertain: number;
    };
    /** @description A cron that does not fire for the time being, on somebody’s word. */
    Pause: {
      /**
       * Format: date-time
       * @description When the cron was paused.
       */
      since: string;
      /** @description When the pause ends by itself; null: until somebody resumes the cron. */
      until: string | null;
      /** @description Who paused it. */
      by: string;
      /** @description Why. */
      reason: string;
    };
    /** @description The record of one occurrence, or of one run that somebody asked for. */
    Run: {
      /** @description Such as nightly-report@1763607600000. */
      id: string;
      /** @description The cron it belongs to. */
      cron: string;
      /**
       * Format: date-time
       * @description The nominal instant.
       */
      scheduledAt: string;
      /**
       * Format: date-time
       * @description The nominal instant plus the spread of the cron.
       */
      dueAt: string;
      /**
       * @description Every state a run can be in; uncertain waits for a person.
       * @enum {string}
       */
      state:
        | 'claimed'
        | 'enqueued'
        | 'running'
        | 'orphaned'
        | 'uncertain'
        | 'succeeded'
        | 'failed'
        | 'cancelled'
        | 'skipped';
      /**
       * @description Why the run exists.
       * @enum {string}
       */
      reason: 'schedule' | 'catch-up' | 'manual' | 'backfill';
      skipped: ('overlap' | 'misfire' | 'merged' | 'paused' | 'superseded') | null;
      missed: {
        /** @description How many instants. */
        count: number;
        /**
         * Format: date-time
         * @description The first of them.
         */
        from: string;
        /**
         * Format: date-time
         * @description The last of them.
         */
        to: string;
      } | null;
      /** @description The generation of the definition it was claimed under. */
      generation: number;
      /** @description The fence of the scheduler that claimed it. */
      claimFence: string;
      /** @description The scheduler that claimed it: label and the first characters of its identity. */
      claimedBy: string;
      /**
       * Format: date-time
       * @description When the ledger accepted it.
       */
      claimedAt: string;
      /** @description When the queue had it. */
      enqueuedAt: string | null;
      /** @description How often it was handed to the queue. */
      delivery: number;
      /** @description Tries so far; 0 before the first. */
      attempt: number;
      /** @description The fence of the latest attempt. */
      fence: string | null;
      /** @description The worker of the latest attempt: label and the first characters of its identity. */
      worker: string | null;
      /** @description When the first attempt began. */
      startedAt: string | null;
      /** @description When the latest attempt began. */
      attemptedAt: string | null;
      /** @description The next attempt begins no earlier. */
      notBefore: string | null;
      /** @description When it came into its final state. */
      finishedAt: string | null;
      /** @description How much later than due the first attempt began; null before it has begun, and for a manual or backfilled run. */
      lateByMs: number | null;
      /** @description From the beginning of the first attempt to the end; null before it has ended. */
      tookMs: number | null;
      /** @description What the latest attempt failed with. */
      error: string | null;
      /** @description Who asked for it, where somebody did. */
      by: string | null;
      /** @description What its handler gets, plain data. */
      payload: unknown;
      /** @description Whose handler carries it out; null: that of its own cron. */
      handler: string | null;
      /** @description Why it was enqueued and has not begun, where that is known. */
      waiting: 'no-capable-worker' | null;
      /** @description The smaller number goes first, null before all numbers. */
      priority: number | null;
      question: {
        /** @description The effect that nobody knows the outcome of. */
        effect: string;
        /** @description The key of the item, where the effect is one item of many. */
        item: string | null;
        /**
         * @description Why nobody knows: its worker is gone, it did not come back, its payload changed, or its key is too old.
         * @enum {string}
         */
        doubt: 'lost' | 'timeout' | 'payload-changed' | 'key-expired';
        /**
         * Format: date-time
         * @description When the effect was first begun.
         */
        since: string;
      } | null;
      cancel: {
        /**
         * Format: date-time
         * @description When somebody told it to stop.
         */
        at: string;
        /** @description Who did. */
        by: string;
        /**
         * Format: date-time
         * @description When it is fenced out if it has not stopped.
         */
        until: string;
      } | null;
    };
    /** @description Why something was not done. */
    Problem: {
      statusCode: number;
      /** @description Stable, for programs. */
      code: string;
      /** @description One sentence: what was expected, what came, what to do. */
      message: string;
      details?: unknown;
    };
    /** @description A cron with everything that is defined and known of it. */
    CronDetail: {
      /** @description Its name. */
      name: string;
      /** @description Its cron expression. */
      expression: string;
      /** @description The IANA time zone it goes by. */
      timeZone: string;
      /**
       * @description disabled: by its own declaration; removed: by a newer build or a person.
       * @enum {string}
       */
      state: 'firing' | 'disabled' | 'removed';
      /** @description It has no instants: it runs when somebody asks for it. */
      manual: boolean;
      paused: components['schemas']['Pause'] | null;
      /** @description The newest generation of its definition. */
      generation: number;
      /**
       * Format: date-time
       * @description From when on that generation is effective.
       */
      since: string;
      /** @description The next nominal instant; null for one that does not fire. */
      next: string | null;
      /** @description Every instant up to here has a run or a recorded reason why not. */
      cursor: string | null;
      /** @description Its newest run, skipped ones included. */
      last: components['schemas']['Run'] | null;
      /** @description The scheduler that acts for it now: label and the first characters of its identity. */
      holder: string | null;
      /** @description The fence of that lease. */
      fence: string | null;
      /** @description How long that lease lasts if nobody renews it. */
      leaseLeftMs: number | null;
      /** @description Why its newest run has not begun, where that is known. */
      waiting: string | null;
      /** @description How many of its runs wait for a person. */
      uncertain: number;
      /**
       * @description What becomes of instants that nobody enqueued in time.
       * @enum {string}
       */
      misfire: 'skip' | 'fire-once' | 'fire-all';
      /**
       * @description What a new instant does while as many runs are open as may be.
       * @enum {string}
       */
      overlap: 'skip' | 'queue-one' | 'queue-all' | 'replace' | 'allow';
      /** @description Later than this counts as late. */
      graceMs: number;
      /** @description How far back missed instants are made up for, at least the grace; null: one period, at most a day. */
      catchUpWindowMs: number | null;
      /** @description What becomes of fixed times where clocks change. */
      dst: {
        /**
         * @description A fixed time that does not exist.
         * @enum {string}
         */
        gap: 'next-valid' | 'skip' | 'shift';
        /**
         * @description A fixed time that comes twice.
         * @enum {string}
         */
        repeat: 'first' | 'last' | 'both';
      };
      /** @description Over how long crons of the same expression are spread. */
      spreadMs: number;
      /** @description How many of its runs may be open at once. */
      maxConcurrency: number;
      /** @description A run that nobody has begun so long after it was due is skipped. */
      startDeadlineMs: number | null;
      /** @description A success is expected at least this often; null: nobody watches for it. */
      expectEveryMs: number | null;
      /** @description A run that has not ended so long after it was due raises an alarm. */
      lateAfterMs: number | null;
      /** @description Whose handler carries its runs out; null: its own. */
      handler: string | null;
      /** @description What its runs get. */
      payload: unknown;
      /** @description The highest build that declared it; null: made at run time. */
      buildSeq: number | null;
      /** @description The program that declares it; null: made at run time. */
      source: string | null;
      /** @description The version of the time zone database it was defined with. */
      zoneData: string;
      /** @description All that are kept, the oldest first. */
      generations: {
        /** @description Its number. */
        generation: number;
        /**
         * @description disabled: by its own declaration; removed: by a newer build or a person.
         * @enum {string}
         */
        state: 'firing' | 'disabled' | 'removed';
        /** @description The expression it had. */
        expression: string;
        /** @description The zone it had. */
        timeZone: string;
        /**
         * Format: date-time
         * @description From when on it was effective.
         */
        since: string;
        /** @description The build or the person that made it. */
        by: string;
        /** @description Why, where somebody said so. */
        reason: string | null;
      }[];
      /** @description How many stale claims of it the ledger has refused. */
      refusals: number;
      /** @description Its schedule in words. */
      description: string;
    };
    /** @description Every instant of a cron in a time, and what became of it. */
    Timeline: {
      /** @description Its name. */
      cron: string;
      /**
       * Format: date-time
       * @description The first instant that was looked at.
       */
      from: string;
      /**
       * Format: date-time
       * @description The first one that was not.
       */
      to: string;
      /**
       * Format: date-time
       * @description What the clock of the store showed.
       */
      now: string;
      /** @description In order. */
      items: components['schemas']['TimelineItem'][];
      /** @description There are more than were asked for: look again from here; null: this is all. */
      more: string | null;
      /** @description Up to here the ledger may have forgotten what happened; null: it has not. */
      forgotten: string | null;
    };
    /** @description What became of an instant. */
    TimelineItem: {
      /**
       * Format: date-time
       * @description The instant; of several the first.
       */
      scheduledAt: string;
      /** @description The last of several instants with the same outcome; null: it is one. */
      until: string | null;
      /** @description How many instants. */
      count: number;
      /**
       * @description What became of an instant, or of a run that somebody asked for.
       * @enum {string}
       */
      outcome:
        | 'ran'
        | 'late'
        | 'running'
        | 'waiting'
        | 'retried'
        | 'failed'
        | 'cancelled'
        | 'uncertain'
        | 'skipped'
        | 'merged'
        | 'missed'
        | 'ahead';
      /** @description Why, in a word: of a skip its reason, of a run why it exists where that is not the schedule. */
      reason: string | null;
      /** @description Its run, where it has one. */
      runId: string | null;
      /** @description How much later than due it began; null for a manual or backfilled run. */
      lateByMs: number | null;
      /** @description How long it took. */
      tookMs: number | null;
      /** @description Tries; 0 before the first. */
      attempt: number;
    };
    /** @description Runs, the newest first. */
    RunList: {
      items: components['schemas']['Run'][];
    };
    /** @description Entries of the journal, the newest first. */
    JournalList: {
      items: components['schemas']['JournalEntry'][];
    };
    /** @description Something that happened in a pod. A hint for people, never a basis for acting. */
    JournalEntry: {
      /** @description Of the store, ordered: what came later is larger. */
      id: string;
      /**
       * Format: date-time
       * @description When it was written down, by the clock of the store.
       */
      at: string;
      /** @description Who tells it: label and the first characters of its identity. */
      pod: string;
      /** @description What that pod is: scheduler, worker, or both. */
      role: string;
      /** @description Such as lease.acquired. */
      event: string;
      /**
       * @description How loud it is.
       * @enum {string}
       */
      level: 'debug' | 'info' | 'warn' | 'error';
      /** @description The cron it is about, where it is about one. */
      cron: string | null;
      /** @description The run it is about, where it is about one. */
      runId: string | null;
      /** @description What else the event carries, without secrets. */
      detail: {
        [key: string]: unknown;
      };
    };
    /** @description What people did to a cron, the newest first. */
    ActionList: {
      items: components['schemas']['OperatorAction'][];
    };
    /** @description What a person did to a cron, as the ledger has it. */
    OperatorAction: {
      /**
       * Format: date-time
       * @description When it was done.
       */
      at: string;
      /**
       * @description What somebody did to the cron or to one of its runs.
       * @enum {string}
       */
      action: 'pause' | 'resume' | 'trigger' | 'backfill' | 'cancel' | 'resolve';
      /** @description Who did it. */
      by: string;
      /** @description Why, where somebody said so. */
      reason: string | null;
      /** @description The run it was about, where it was about one. */
      runId: string | null;
    };
    /** @description Why a cron ran at an instant, or why it did not. */
    WhyReport: {
      /** @description Its name. */
      cron: string;
      /**
       * Format: date-time
       * @description The instant that was asked about.
       */
      at: string;
      /** @description The answer in a word, for programs. */
      verdict: string;
      /** @description The answer in a sentence. */
      answer: string;
      /** @description What is known, in the order in which it matters. */
      steps: {
        /**
         * @description Which part of the machinery it is about.
         * @enum {string}
         */
        topic:
          | 'schedule'
          | 'generation'
          | 'pause'
          | 'misfire'
          | 'overlap'
          | 'lease'
          | 'claim'
          | 'enqueue'
          | 'attempt'
          | 'fence'
          | 'effect'
          | 'next';
        /** @description When it happened, where it happened at a time. */
        at: string | null;
        /**
         * @description How much it matters.
         * @enum {string}
         */
        level: 'ok' | 'note' | 'warn' | 'bad';
        /** @description One sentence. */
        text: string;
      }[];
      /** @description The run of the instant, where it has one. */
      run: components['schemas']['RunReport'] | null;
      /** @description The instants next to it. */
      neighbours: {
        /** @description The last instant before it. */
        before: string | null;
        /** @description The first instant after it. */
        after: string | null;
      };
    };
    /** @description All that is known of one run. */
    RunReport: {
      run: components['schemas']['Run'];
      /** @description In the order they were begun. */
      effects: {
        /** @description Its name within the run. */
        name: string;
        /**
         * @description As it is recorded.
         * @enum {string}
         */
        state: 'begun' | 'done' | 'failed';
        /** @description It was begun, and whoever did is gone: nobody knows whether it happened. */
        unknown: boolean;
        /**
         * Format: date-time
         * @description When it was begun, the first time since it last failed.
         */
        since: string;
        /** @description When it ended. */
        finishedAt: string | null;
        /** @description The fence of the attempt that ended it, else of the one that began it first. */
        fence: string;
        /** @description What it brought, once it is done. */
        result: unknown;
        /** @description What it failed with. */
        error: string | null;
        /** @description A hash of what it sends, where its handler says so. */
        payloadHash: string | null;
      }[];
      /** @description By the name of the forEach. */
      items: {
        [key: string]: {
          /** @description Items that are done. */
          done: number;
          /** @description Items that failed. */
          failed: number;
          /** @description Items that were begun and have not ended. */
          begun: number;
          /** @description The first 100 that are not done. */
          open: {
            /** @description The key of the item. */
            key: string;
            /**
             * @description As it is recorded.
             * @enum {string}
             */
            state: 'begun' | 'done' | 'failed';
            /** @description What it failed with. */
            error: string | null;
            /**
             * Format: date-time
             * @description When it was begun first since it last failed.
             */
            since: string;
          }[];
        };
      };
      /** @description While the run is uncertain. */
      question: {
        /** @description The effect that nobody knows the outcome of. */
        effect: string;
        /** @description The key of the item, where the effect is one item of many. */
        item: string | null;
        /**
         * @description Why nobody knows: its worker is gone, it did not come back, its payload changed, or its key is too old.
         * @enum {string}
         */
        doubt: 'lost' | 'timeout' | 'payload-changed' | 'key-expired';
        /**
         * Format: date-time
         * @description When the effect was first begun.
         */
        since: string;
        /** @description What the effect gave to the system it changes. */
        idempotencyKey: string;
        /** @description Why nobody knows, in a sentence. */
        why: string;
        /** @description Where to look, and what to answer then. */
        advice: string;
      } | null;
    };
    /** @description What became of an order to resume. */
    Resumed: {
      /** @description The pause that ended by it; null: it was not paused. */
      ended: components['schemas']['Pause'] | null;
      /** @description The run that stands for the paused instants, where one was asked for. */
      runId: string | null;
    };
    /** @description A run that was asked for. */
    Started: {
      /** @description The run that is on its way. */
      runId: string;
    };
    /** @description What a backfill did, or would do. */
    Backfill: {
      cron: string;
      dryRun: boolean;
      /** @description How many instants the schedule has in the range. */
      instants: number;
      /** @description How many of them became a run by this order. */
      accepted: number;
      /** @description How many were left alone, by why. */
      left: {
        [key: string]: number;
      };
      /** @description The first 1,000 of the accepted ones. */
      runIds: string[];
      aborted: boolean;
      /** @description Where to begin to go on, when it was aborted. */
      nextFrom: string | null;
      /** @description Of a dry run: how long it takes, where that can be told. */
      estimateMs: number | null;
    };
    /** @description It is done. */
    Done: {
      cron: string;
      /** @enum {boolean} */
      done: true;
    };
    /** @description All that is known of one run, and what was said about it. */
    RunPage: {
      run: components['schemas']['Run'];
      /** @description In the order they were begun. */
      effects: {
        /** @description Its name within the run. */
        name: string;
        /**
         * @description As it is recorded.
         * @enum {string}
         */
        state: 'begun' | 'done' | 'failed';
        /** @description It was begun, and whoever did is gone: nobody knows whether it happened. */
        unknown: boolean;
        /**
         * Format: date-time
         * @description When it was begun, the first time since it last failed.
         */
        since: string;
        /** @description When it ended. */
        finishedAt: string | null;
        /** @description The fence of the attempt that ended it, else of the one that began it first. */
        fence: string;
        /** @description What it brought, once it is done. */
        result: unknown;
        /** @description What it failed with. */
        error: string | null;
        /** @description A hash of what it sends, where its handler says so. */
        payloadHash: string | null;
      }[];
      /** @description By the name of the forEach. */
      items: {
        [key: string]: {
          /** @description Items that are done. */
          done: number;
          /** @description Items that failed. */
          failed: number;
          /** @description Items that were begun and have not ended. */
          begun: number;
          /** @description The first 100 that are not done. */
          open: {
            /** @description The key of the item. */
            key: string;
            /**
             * @description As it is recorded.
             * @enum {string}
             */
            state: 'begun' | 'done' | 'failed';
            /** @description What it failed with. */
            error: string | null;
            /**
             * Format: date-time
             * @description When it was begun first since it last failed.
             */
            since: string;
          }[];
        };
      };
      /** @description While the run is uncertain. */
      question: {
        /** @description The effect that nobody knows the outcome of. */
        effect: string;
        /** @description The key of the item, where the effect is one item of many. */
        item: string | null;
        /**
         * @description Why nobody knows: its worker is gone, it did not come back, its payload changed, or its key is too old.
         * @enum {string}
         */
        doubt: 'lost' | 'timeout' | 'payload-changed' | 'key-expired';
        /**
         * Format: date-time
         * @description When the effect was first begun.
         */
        since: string;
        /** @description What the effect gave to the system it changes. */
        idempotencyKey: string;
        /** @description Why nobody knows, in a sentence. */
        why: string;
        /** @description Where to look, and what to answer then. */
        advice: string;
      } | null;
      /** @description What pods have said about it, the newest first. */
      journal: components['schemas']['JournalEntry'][];
      /** @description What its handler wrote, oldest first: time, level, attempt and fence before each line. */
      logs: string[];
    };
    /** @description What became of an order to cancel. */
    Cancelled: {
      runId: string;
      /**
       * @description cancelling: its worker is told, and has until then to stop.
       * @enum {string}
       */
      state: 'cancelled' | 'cancelling';
      /** @description When it is fenced out if it has not stopped. */
      until: string | null;
    };
    /** @description What became of an answer. */
    Resolved: {
      runId: string;
      /** @description enqueued, or failed where it was given up. */
      state: string;
    };
    /** @description One page of leases, by cron. */
    LeasePage: {
      /** @description How many fit, on all pages. */
      total: number;
      items: components['schemas']['Lease'][];
    };
    /** @description The right to act for a cron, and who has it. */
    Lease: {
      /** @description The cron it is for. */
      cron: string;
      /** @description Who holds it: label and the first characters of its identity. */
      holder: string;
      /** @description The fence it was issued with. */
      fence: string;
      /** @description How long it lasts if nobody renews it. */
      remainingMs: number;
    };
    /** @description What became of an order to clear a lease. */
    Cleared: {
      cron: string;
      /** @description The lease that was taken away. */
      cleared: components['schemas']['Lease'];
    };
    /** @description The deployment at one look. */
    Overview: {
      /**
       * Format: date-time
       * @description By the clock of the store.
       */
      now: string;
      tenant: string;
      prefix: string;
      /**
       * @description Where runs and effects are recorded.
       * @enum {string}
       */
      ledger: 'redis' | 'postgres';
      /** @description Of Fencepost. */
      version: string;
      you: components['schemas']['You'];
      crons: {
        total: number;
        firing: number;
        /** @description Of the firing ones. */
        paused: number;
        disabled: number;
        removed: number;
      };
      /** @description Runs that wait for a person, counted up to 1,000. */
      uncertain: number;
      /** @description Runs that failed for good and are still remembered, counted up to 1,000. */
      failed: number;
      /** @description How many jobs of the queue are in each state. */
      queue: {
        [key: string]: number;
      };
      pods: components['schemas']['Pod'][];
    };
    /** @description Who asks. */
    You: {
      /** @description As audit records have it. */
      name: string;
      /**
       * @description viewer looks, operator orders, admin also takes away.
       * @enum {string}
       */
      role: 'viewer' | 'operator' | 'admin';
      /** @description By a token or a proxy; false: there are no tokens, and this is the machine itself. */
      signedIn: boolean;
    };
    /** @description A process of the deployment, as it reports about itself. */
    Pod: {
      /** @description Label and the first characters of its identity. */
      pod: string;
      /** @description What it is called; only a label. */
      label: string;
      /** @description scheduler, worker, or both. */
      roles: string[];
      /** @description The machine it runs on, as that machine calls itself. */
      host: string;
      /** @description Its process there. */
      pid: number;
      /**
       * Format: date-time
       * @description When it started.
       */
      startedAt: string;
      /** @description The version of the library. */
      version: string;
      /** @description The version of Node.js. */
      node: string;
      /** @description The version of its time zone database. */
      zoneData: string;
      /** @description The program it is built from. */
      app: string | null;
      /** @description The build it runs. */
      buildSeq: number | null;
      /** @description Where it keeps runs and effects. */
      ledger: string;
      /** @description How far its clock is ahead of that of the store. */
      clockSkewMs: number | null;
      /** @description How long the store takes to answer it. */
      rttMs: number | null;
      /** @description How long its event loop is busy at a time, p99. */
      lagMs: number | null;
      /** @description How long its leases last. */
      leaseTtlMs: number | null;
      /** @description A scheduler: how many crons are its share. */
      share: number | null;
      /** @description A scheduler: how many it holds. */
      held: number | null;
      /** @description A worker: how many runs it carries out at once. */
      concurrency: number | null;
      /** @description A worker: how many it carries out now. */
      running: number | null;
      /** @description A worker: the names it can carry out. */
      handlers: string[];
      /**
       * Format: date-time
       * @description When it last reported.
       */
      seenAt: string;
    };
    /** @description The pods that have reported lately. */
    PodList: {
      items: components['schemas']['Pod'][];
    };
    /** @description What is to come. */
    Forecast: {
      /**
       * Format: date-time
       * @description Instants from here on.
       */
      from: string;
      /**
       * Format: date-time
       * @description The first one that does not count.
       */
      to: string;
      /** @description How many runs are due in each hour. */
      perHour: {
        /**
         * Format: date-time
         * @description Where the hour begins.
         */
        at: string;
        /** @description How many runs are due in it. */
        count: number;
      }[];
      /** @description Seconds in which many crons are due at once, the fullest first. */
      stampedes: {
        /**
         * Format: date-time
         * @description The second in which they are due.
         */
        at: string;
        /** @description The first of them by name. */
        crons: string[];
        /** @description How many. */
        count: number;
      }[];
      /** @description Where clocks change in this time. */
      clockChanges: {
        /** @description Where clocks change. */
        zone: string;
        /**
         * Format: date-time
         * @description When.
         */
        at: string;
        /** @description How, and what it means for the crons that go by them. */
        text: string;
        /** @description How many crons go by these clocks. */
        crons: number;
      }[];
      /** @description What is due next, the soonest first. */
      next: {
        /** @description Its name. */
        cron: string;
        /**
         * Format: date-time
         * @description When it is due.
         */
        at: string;
      }[];
    };
    /** @description What an examination found. */
    FindingList: {
      items: components['schemas']['Finding'][];
    };
    /** @description What an examination of the deployment found. */
    Finding: {
      /** @description Which check, for programs. */
      code: string;
      /**
       * @description How much it matters.
       * @enum {string}
       */
      level: 'ok' | 'note' | 'warn' | 'bad';
      /** @description What it is about: a pod, a cron, the store. */
      subject: string;
      /** @description What was found, in a sentence. */
      text: string;
      /** @description What to do about it; null: nothing. */
      todo: string | null;
    };
    /** @description Who changed what, the newest first. */
    AuditList: {
      items: components['schemas']['AuditRecord'][];
    };
    /** @description Who changed what through the API, the board or the command line. */
    AuditRecord: {
      /** @description Of the store, ordered: what came later is larger. */
      id: string;
      /**
       * Format: date-time
       * @description When, by the clock of the store.
       */
      at: string;
      /** @description Who. */
      by: string;
      /** @description With which role. */
      role: string;
      /** @description What. */
      action: string;
      /** @description The cron it was done to. */
      cron: string | null;
      /** @description The run it was done to. */
      runId: string | null;
      /** @description What was there before. */
      before: unknown;
      /** @description What was there afterwards. */
      after: unknown;
      /** @description Why. */
      reason: string | null;
      /** @description Where the order came from: an address, or the name of a program. */
      from: string | null;
    };
  };
  responses: never;
  parameters: never;
  requestBodies: never;
  headers: never;
  pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
  crons_list: {
    parameters: {
      query?: {
        /** @description Part of its name or its expression, in small or large letters. */
        search?: string;
        /** @description uncertain: with such runs; unheld: it is due to fire, and no pod holds it. */
        state?: 'firing' | 'paused' | 'disabled' | 'removed' | 'uncertain' | 'unheld';
        /** @description Part of the pod that acts for it. */
        holder?: string;
        /** @description At most so many, 1 to 500; default 50. */
        limit?: number;
        /** @description How many to leave out before. */
        offset?: number;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description One page of crons, by name. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['CronPage'];
        };
      };
      /** @description Why it was not done. */
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Problem'];
        };
      };
    };
  };
  crons_detail: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** @description The name of a cron. */
        cron: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description A cron with everything that is defined and known of it. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['CronDetail'];
        };
      };
      /** @description Why it was not done. */
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Problem'];
        };
      };
    };
  };
  crons_timeline: {
    parameters: {
      query?: {
        /** @description Default: a day before "to". */
        from?: string;
        /** @description Default: an hour from now. */
        to?: string;
      };
      header?: never;
      path: {
        /** @description The name of a cron. */
        cron: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Every instant of a cron in a time, and what became of it. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Timeline'];
        };
      };
      /** @description Why it was not done. */
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Problem'];
        };
      };
    };
  };
  crons_runs: {
    parameters: {
      query?: {
        /** @description At most so many, 1 to 500; default 50. */
        limit?: number;
      };
      header?: never;
      path: {
        /** @description The name of a cron. */
        cron: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Runs, the newest first. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['RunList'];
        };
      };
      /** @description Why it was not done. */
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Problem'];
        };
      };
    };
  };
  crons_entries: {
    parameters: {
      query?: {
        /** @description At most so many, 1 to 1000; default 50. */
        limit?: number;
        /** @description The id of an entry: only what is older. */
        before?: string;
      };
      header?: never;
      path: {
        /** @description The name of a cron. */
        cron: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Entries of the journal, the newest first. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['JournalList'];
        };
      };
      /** @description Why it was not done. */
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Problem'];
        };
      };
    };
  };
  crons_actions: {
    parameters: {
      query?: {
        /** @description At most so many, 1 to 1000; default 50. */
        limit?: number;
      };
      header?: never;
      path: {
        /** @description The name of a cron. */
        cron: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description What people did to a cron, the newest first. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['ActionList'];
        };
      };
      /** @description Why it was not done. */
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Problem'];
        };
      };
    };
  };
  crons_why: {
    parameters: {
      query?: {
        /** @description An instant, a local time of the zone of the cron, now, or last: the last instant that was due. */
        at?: string;
      };
      header?: never;
      path: {
        /** @description The name of a cron. */
        cron: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Why a cron ran at an instant, or why it did not. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['WhyReport'];
        };
      };
      /** @description Why it was not done. */
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Problem'];
        };
      };
    };
  };
  cronorders_pause: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** @description The name of a cron. */
        cron: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': {
          /** @description Why, for whoever asks later; 1 to 1,000 characters. */
          reason: string;
          /** @description When it ends by itself; default: it does not. */
          until?: string | null;
        };
      };
    };
    responses: {
      /** @description A cron that does not fire for the time being, on somebody’s word. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Pause'];
        };
      };
      /** @description Why it was not done. */
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Problem'];
        };
      };
    };
  };
  cronorders_resume: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** @description The name of a cron. */
        cron: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': {
          /** @description Why, for whoever asks later; 1 to 1,000 characters. */
          reason: string;
          /**
           * @description fire-once: one run stands for the paused instants.
           * @default skip
           * @enum {string}
           */
          missed?: 'skip' | 'fire-once';
        };
      };
    };
    responses: {
      /** @description What became of an order to resume. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Resumed'];
        };
      };
      /** @description Why it was not done. */
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Problem'];
        };
      };
    };
  };
  cronorders_trigger: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** @description The name of a cron. */
        cron: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': {
          /** @description Why, for whoever asks later; 1 to 1,000 characters. */
          reason: string;
          /** @description Plain data for the handler; default: what the definition says. */
          payload?: unknown;
          /**
           * @description Also while as many of its runs are open as may be.
           * @default false
           */
          force?: boolean;
        };
      };
    };
    responses: {
      /** @description A run that was asked for. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Started'];
        };
      };
      /** @description Why it was not done. */
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Problem'];
        };
      };
    };
  };
  cronorders_backfill: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** @description The name of a cron. */
        cron: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': {
          /** @description Why, for whoever asks later; 1 to 1,000 characters. */
          reason: string;
          /**
           * Format: date-time
           * @description The first instant that counts.
           */
          from: string;
          /**
           * Format: date-time
           * @description The first one that does not.
           */
          to: string;
          /**
           * @description Says what would be done, and does nothing.
           * @default false
           */
          dryRun?: boolean;
        };
      };
    };
    responses: {
      /** @description What a backfill did, or would do. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Backfill'];
        };
      };
      /** @description Why it was not done. */
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Problem'];
        };
      };
    };
  };
  cronorders_remove: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** @description The name of a cron. */
        cron: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': {
          /** @description Why, for whoever asks later; 1 to 1,000 characters. */
          reason: string;
        };
      };
    };
    responses: {
      /** @description It is done. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Done'];
        };
      };
      /** @description Why it was not done. */
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Problem'];
        };
      };
    };
  };
  runs_list: {
    parameters: {
      query: {
        state: 'failed' | 'uncertain';
        /** @description At most so many, 1 to 1000; default 50. */
        limit?: number;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Runs, the newest first. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['RunList'];
        };
      };
      /** @description Why it was not done. */
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Problem'];
        };
      };
    };
  };
  runs_one: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** @description The id of a run. */
        id: string;
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description All that is known of one run, and what was said about it. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['RunPage'];
        };
      };
      /** @description Why it was not done. */
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Problem'];
        };
      };
    };
  };
  runorders_cancel: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** @description The id of a run. */
        id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': {
          /** @description Why, for whoever asks later; 1 to 1,000 characters. */
          reason: string;
        };
      };
    };
    responses: {
      /** @description What became of an order to cancel. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Cancelled'];
        };
      };
      /** @description Why it was not done. */
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Problem'];
        };
      };
    };
  };
  runorders_retry: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** @description The id of a run. */
        id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': {
          /** @description Why, for whoever asks later; 1 to 1,000 characters. */
          reason: string;
          /** @description Default: what the run had. */
          payload?: unknown;
          /**
           * @description Also while as many of its runs are open as may be.
           * @default false
           */
          force?: boolean;
          /**
           * @description Also where nobody knows whether an effect happened: it is begun anew.
           * @default false
           */
          repeatUnknown?: boolean;
        };
      };
    };
    responses: {
      /** @description A run that was asked for. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Started'];
        };
      };
      /** @description Why it was not done. */
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Problem'];
        };
      };
    };
  };
  runorders_resolve: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** @description The id of a run. */
        id: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': {
          /** @description Why, for whoever asks later; 1 to 1,000 characters. */
          reason: string;
          /** @enum {string} */
          answer: 'done' | 'not-done' | 'give-up';
          /** @description With done: what the effect brought. */
          result?: unknown;
          /** @description The attempt that asks, as the run shows it. An answer to another question than the one asked is refused. */
          attempt: number;
          /** @description The effect that it asks about. */
          effect: string;
          /**
           * @description The item that it asks about, if any.
           * @default null
           */
          item?: string | null;
          /**
           * Format: date-time
           * @description Since when its outcome is unknown, as the question shows it.
           */
          since: string;
        };
      };
    };
    responses: {
      /** @description What became of an answer. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Resolved'];
        };
      };
      /** @description Why it was not done. */
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Problem'];
        };
      };
    };
  };
  leases_list: {
    parameters: {
      query?: {
        /** @description Part of the cron or of its holder. */
        search?: string;
        /** @description At most so many, 1 to 1000; default 50. */
        limit?: number;
        /** @description How many to leave out before. */
        offset?: number;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description One page of leases, by cron. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['LeasePage'];
        };
      };
      /** @description Why it was not done. */
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Problem'];
        };
      };
    };
  };
  leases_clear: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** @description The name of a cron. */
        cron: string;
      };
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': {
          /** @description Why, for whoever asks later; 1 to 1,000 characters. */
          reason: string;
          /** @description As it was seen: a lease that has changed hands since is left alone. */
          fence: string;
        };
      };
    };
    responses: {
      /** @description What became of an order to clear a lease. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Cleared'];
        };
      };
      /** @description Why it was not done. */
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Problem'];
        };
      };
    };
  };
  deployment_overview: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The deployment at one look. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Overview'];
        };
      };
      /** @description Why it was not done. */
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Problem'];
        };
      };
    };
  };
  deployment_pods: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The pods that have reported lately. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['PodList'];
        };
      };
      /** @description Why it was not done. */
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Problem'];
        };
      };
    };
  };
  deployment_forecast: {
    parameters: {
      query?: {
        /** @description How far ahead, 1 to 168; default 24. */
        hours?: number;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description What is to come. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Forecast'];
        };
      };
      /** @description Why it was not done. */
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Problem'];
        };
      };
    };
  };
  deployment_doctor: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description What an examination found. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['FindingList'];
        };
      };
      /** @description Why it was not done. */
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Problem'];
        };
      };
    };
  };
  deployment_journal: {
    parameters: {
      query?: {
        /** @description At most so many, 1 to 1000; default 50. */
        limit?: number;
        /** @description The id of an entry: only what is older. */
        before?: string;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Entries of the journal, the newest first. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['JournalList'];
        };
      };
      /** @description Why it was not done. */
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Problem'];
        };
      };
    };
  };
  deployment_audit: {
    parameters: {
      query?: {
        /** @description At most so many, 1 to 1000; default 50. */
        limit?: number;
        /** @description The id of an entry: only what is older. */
        before?: string;
        /** @description The name of a cron. */
        cron?: string;
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Who changed what, the newest first. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['AuditList'];
        };
      };
      /** @description Why it was not done. */
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Problem'];
        };
      };
    };
  };
  events_events: {
    parameters: {
      query?: never;
      header?: {
        /** @description Goes on after this entry, as far as it is kept. */
        'Last-Event-ID'?: string;
      };
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description A stream that does not end. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'text/event-stream': string;
        };
      };
    };
  };
  session_me: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Who asks. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['You'];
        };
      };
      /** @description Why it was not done. */
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Problem'];
        };
      };
    };
  };
  session_signIn: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': {
          token: string;
        };
      };
    };
    responses: {
      /** @description Who is signed in. */
      200: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['You'];
        };
      };
      /** @description Why nobody is signed in. */
      default: {
        headers: {
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Problem'];
        };
      };
    };
  };
  session_signOut: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Nobody is signed in any more. */
      204: {
        headers: {
          [name: string]: unknown;
        };
        content?: never;
      };
    };
  };
}
