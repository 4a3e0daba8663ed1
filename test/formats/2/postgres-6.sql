CREATE TABLE kept.cron (
    space text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    fence bigint DEFAULT 0 NOT NULL,
    term text,
    generation bigint DEFAULT 0 NOT NULL,
    cursor bigint,
    began bigint,
    forgotten bigint,
    refusals bigint DEFAULT 0 NOT NULL,
    run_fence bigint DEFAULT 0 NOT NULL,
    paused_since bigint,
    paused_until bigint,
    paused_by text,
    paused_reason text,
    record_nonce text,
    record_paused boolean,
    pause_nonce text,
    resume_nonce text,
    resumed_until bigint,
    notifications_dropped bigint DEFAULT 0 NOT NULL,
    notification_dropped_at bigint
)
WITH (fillfactor='50');
CREATE TABLE kept.run (
    space text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    cron text NOT NULL COLLATE pg_catalog."C",
    state text NOT NULL,
    scheduled_at bigint NOT NULL,
    due_at bigint NOT NULL,
    reason text NOT NULL,
    skipped text,
    missed_count bigint,
    missed_from bigint,
    missed_to bigint,
    generation bigint NOT NULL,
    claim_fence bigint NOT NULL,
    claimed_by text DEFAULT ''::text NOT NULL,
    claim_nonce text NOT NULL,
    claimed_at bigint NOT NULL,
    enqueued_at bigint,
    delivery integer NOT NULL,
    delivery_nonce text,
    attempt integer DEFAULT 0 NOT NULL,
    extra_attempts integer DEFAULT 0 NOT NULL,
    fence bigint,
    nonce text,
    worker text,
    started_at bigint,
    attempted_at bigint,
    lease_until bigint,
    lease_ms bigint,
    not_before bigint,
    finished_at bigint,
    finish_nonce text,
    finish_state text,
    error text,
    by text,
    payload text,
    handler text,
    waiting text,
    cancel_at bigint,
    cancel_by text,
    cancel_until bigint,
    overlap text NOT NULL,
    max_concurrency bigint DEFAULT 1 NOT NULL,
    start_by bigint,
    priority bigint,
    question jsonb,
    doubted_at bigint,
    resolve_nonce text,
    open_until bigint,
    watch_at bigint,
    pending boolean DEFAULT false NOT NULL,
    is_open boolean GENERATED ALWAYS AS ((open_until IS NOT NULL)) STORED NOT NULL,
    is_watched boolean GENERATED ALWAYS AS ((watch_at IS NOT NULL)) STORED NOT NULL,
    is_troubled boolean GENERATED ALWAYS AS ((state = ANY (ARRAY['failed'::text, 'uncertain'::text]))) STORED NOT NULL,
    notify text
)
WITH (fillfactor='75');
CREATE TABLE kept.catalog_generation (
    space text NOT NULL COLLATE pg_catalog."C",
    cron text NOT NULL COLLATE pg_catalog."C",
    generation bigint NOT NULL,
    since bigint NOT NULL,
    renumbered_at bigint,
    state text NOT NULL,
    nonce text NOT NULL,
    who text NOT NULL,
    definition text NOT NULL
);
CREATE TABLE kept.catalog_cron (
    space text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    seq bigint DEFAULT 0 NOT NULL,
    hash text DEFAULT '0'::text NOT NULL,
    source text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    standing text DEFAULT 'live'::text NOT NULL,
    delete_at bigint
);
CREATE TABLE kept.catalog_state (
    space text NOT NULL COLLATE pg_catalog."C",
    version bigint DEFAULT 0 NOT NULL,
    born_at bigint,
    audit_number bigint DEFAULT 0 NOT NULL,
    audit_at bigint DEFAULT 0 NOT NULL,
    audit_n bigint DEFAULT 0 NOT NULL,
    audit_taken bigint,
    audit_taken_from bigint DEFAULT 0 NOT NULL,
    audit_taken_nonce text
);
CREATE TABLE kept.alarm_record (
    space text NOT NULL COLLATE pg_catalog."C",
    cron text NOT NULL COLLATE pg_catalog."C",
    record text NOT NULL
);
CREATE TABLE kept.asked (
    space text NOT NULL COLLATE pg_catalog."C",
    cron text NOT NULL COLLATE pg_catalog."C",
    instant bigint NOT NULL
);
CREATE TABLE kept.audit_record (
    space text NOT NULL COLLATE pg_catalog."C",
    number bigint NOT NULL,
    at bigint NOT NULL,
    n bigint NOT NULL,
    nonce text NOT NULL COLLATE pg_catalog."C",
    cron text COLLATE pg_catalog."C",
    run_id text COLLATE pg_catalog."C",
    record text NOT NULL
);
CREATE TABLE kept.catalog_build (
    space text NOT NULL COLLATE pg_catalog."C",
    source text NOT NULL COLLATE pg_catalog."C",
    seq bigint NOT NULL
);
CREATE TABLE kept.catalog_forgotten (
    space text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE kept.effect (
    space text NOT NULL COLLATE pg_catalog."C",
    run_id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    state text NOT NULL,
    since bigint NOT NULL,
    finished_at bigint,
    fence bigint NOT NULL,
    result text,
    error text,
    payload_hash text,
    id bigint NOT NULL
);
CREATE TABLE kept.effect_begun (
    space text NOT NULL COLLATE pg_catalog."C",
    run_id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    fence bigint NOT NULL,
    nonce text NOT NULL COLLATE pg_catalog."C"
);
ALTER TABLE kept.effect ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME kept.effect_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE kept.item (
    space text NOT NULL COLLATE pg_catalog."C",
    run_id text NOT NULL COLLATE pg_catalog."C",
    effect text NOT NULL COLLATE pg_catalog."C",
    key text NOT NULL COLLATE pg_catalog."C",
    state text NOT NULL,
    since bigint NOT NULL,
    fence bigint NOT NULL,
    error text,
    id bigint NOT NULL
);
ALTER TABLE kept.item ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME kept.item_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE kept.ledger_version (
    version integer NOT NULL,
    migrated_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    functions text NOT NULL
);
CREATE TABLE kept.notification (
    space text NOT NULL COLLATE pg_catalog."C",
    cron text NOT NULL COLLATE pg_catalog."C",
    id bigint NOT NULL,
    run_id text NOT NULL,
    state text NOT NULL,
    notify text NOT NULL,
    attempt integer NOT NULL,
    at bigint NOT NULL,
    took_ms bigint NOT NULL,
    error text,
    question jsonb
);
ALTER TABLE kept.notification ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME kept.notification_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE kept.skip (
    space text NOT NULL COLLATE pg_catalog."C",
    cron text NOT NULL COLLATE pg_catalog."C",
    after bigint NOT NULL,
    through bigint NOT NULL,
    reason text NOT NULL
);
CREATE TABLE kept.used_id (
    space text NOT NULL COLLATE pg_catalog."C",
    run_id text NOT NULL COLLATE pg_catalog."C",
    cron text NOT NULL COLLATE pg_catalog."C",
    until bigint NOT NULL
);
INSERT INTO kept.audit_record VALUES ('kept:default', 1, 1795471943401, 0, 'record', 'nightly-report', NULL, '{"format":2,"by":"ada","role":"operator","action":"pause","from":"cli host","cron":"nightly-report","runId":null,"reason":"a release","before":null,"after":null}');
INSERT INTO kept.catalog_build VALUES ('kept:default', 'kept', 1);
INSERT INTO kept.catalog_cron VALUES ('kept:default', 'nightly-report', 1, '0ce296bad9d5c85e', 'kept', 'live', NULL);
INSERT INTO kept.catalog_generation VALUES ('kept:default', 'nightly-report', 1, 1795471943386, NULL, 'active', '', '{"format":2,"by":"kept build 1","reason":null,"zoneData":"2025c"}', '{"name":"nightly-report","expression":"0 3 * * *","timeZone":"UTC","misfire":"fire-once","overlap":"skip","graceMs":60000,"catchUpWindowMs":null}');
INSERT INTO kept.catalog_state VALUES ('kept:default', 1795471943397421, 1795471943386, 1, 1795471943401, 0, NULL, 0, NULL);
INSERT INTO kept.cron VALUES ('kept:default', 'nightly-report', 7, 'term', 1, 1768186800000, 1767581999998, NULL, 0, 1795471943452760, 1795471943501, 9223372036854775807, 'ada', 'a release', NULL, NULL, 'aa73ed17-efef-4ba5-b0f4-04c0c5b87d51', NULL, NULL, 0, NULL);
INSERT INTO kept.effect OVERRIDING SYSTEM VALUE VALUES ('kept:default', 'nightly-report@1767754800000', 'charge', 'begun', 1795471943426, NULL, 1795471943421035, NULL, NULL, 'sent', 1);
INSERT INTO kept.effect OVERRIDING SYSTEM VALUE VALUES ('kept:default', 'nightly-report@1767841200000', 'charge', 'done', 1795471943433, 1795471943435, 1795471943432466, '{"id":1}', NULL, NULL, 2);
INSERT INTO kept.effect_begun VALUES ('kept:default', 'nightly-report@1767754800000', 'charge', 1795471943421035, 'of-nightly-report@1767754800000');
INSERT INTO kept.effect_begun VALUES ('kept:default', 'nightly-report@1767841200000', 'charge', 1795471943432466, 'of-nightly-report@1767841200000');
INSERT INTO kept.ledger_version VALUES (6, '2026-11-23 22:12:23.371905+00', '3028c6471384f36cfa110f1cf9f63fdcfe555075e12b94fa5a11fad9ee9619c7');
INSERT INTO kept.notification OVERRIDING SYSTEM VALUE VALUES ('kept:default', 'nightly-report', 1, 'nightly-report@1768014000000', 'failed', 'failed', 1, 1795471943448, 1, 'Error: no', NULL);
INSERT INTO kept.run VALUES ('kept:default', 'nightly-report@1767582000000', 'nightly-report', 'claimed', 1767582000000, 1767582000000, 'schedule', NULL, NULL, NULL, NULL, 1, 7, 'pod/1', 'claimed', 1795471943407, NULL, 1, NULL, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"a":1}', NULL, NULL, NULL, NULL, NULL, 'allow', 1, NULL, NULL, NULL, NULL, NULL, 9223372036854775807, 1795471948407, true, DEFAULT, DEFAULT, DEFAULT, NULL);
INSERT INTO kept.run VALUES ('kept:default', 'nightly-report@1767668400000', 'nightly-report', 'enqueued', 1767668400000, 1767668400000, 'schedule', NULL, NULL, NULL, NULL, 1, 7, 'pod/1', 'enqueued', 1795471943413, 1795471943415, 1, NULL, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{"a":1}', NULL, NULL, NULL, NULL, NULL, 'allow', 1, NULL, NULL, NULL, NULL, NULL, 9223372036854775807, 1795471973415, false, DEFAULT, DEFAULT, DEFAULT, NULL);
INSERT INTO kept.run VALUES ('kept:default', 'nightly-report@1767754800000', 'nightly-report', 'running', 1767754800000, 1767754800000, 'schedule', NULL, NULL, NULL, NULL, 1, 7, 'pod/1', 'running', 1795471943418, NULL, 1, NULL, 1, 0, 1795471943421035, 'of-nightly-report@1767754800000', 'worker/1', 1795471943421, 1795471943421, 1795472003421, 60000, NULL, NULL, NULL, NULL, NULL, NULL, '{"a":1}', NULL, NULL, NULL, NULL, NULL, 'allow', 1, NULL, NULL, NULL, NULL, NULL, 1795472003421, 1795472003421, false, DEFAULT, DEFAULT, DEFAULT, 'failed');
INSERT INTO kept.run VALUES ('kept:default', 'nightly-report@1767841200000', 'nightly-report', 'succeeded', 1767841200000, 1767841200000, 'schedule', NULL, NULL, NULL, NULL, 1, 7, 'pod/1', 'succeeded', 1795471943430, NULL, 1, NULL, 1, 0, 1795471943432466, 'of-nightly-report@1767841200000', 'worker/1', 1795471943432, 1795471943432, 1795472003432, 60000, NULL, 1795471943436, 'of-nightly-report@1767841200000', 'succeeded', NULL, NULL, '{"a":1}', NULL, NULL, NULL, NULL, NULL, 'allow', 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, false, DEFAULT, DEFAULT, DEFAULT, NULL);
INSERT INTO kept.run VALUES ('kept:default', 'nightly-report@1767927600000', 'nightly-report', 'enqueued', 1767927600000, 1767927600000, 'schedule', NULL, NULL, NULL, NULL, 1, 7, 'pod/1', 'retrying', 1795471943439, NULL, 1, NULL, 1, 0, 1795471943441264, 'of-nightly-report@1767927600000', 'worker/1', 1795471943441, 1795471943441, 1795472003441, 60000, 1795471943442, NULL, 'of-nightly-report@1767927600000', 'enqueued', 'Error: no', NULL, '{"a":1}', NULL, NULL, NULL, NULL, NULL, 'allow', 1, NULL, NULL, NULL, NULL, NULL, 9223372036854775807, 1795471973442, false, DEFAULT, DEFAULT, DEFAULT, NULL);
INSERT INTO kept.run VALUES ('kept:default', 'nightly-report@1768014000000', 'nightly-report', 'failed', 1768014000000, 1768014000000, 'schedule', NULL, NULL, NULL, NULL, 1, 7, 'pod/1', 'failed', 1795471943445, NULL, 1, NULL, 1, 0, 1795471943447464, 'of-nightly-report@1768014000000', 'worker/1', 1795471943447, 1795471943447, 1795472003447, 60000, NULL, 1795471943448, 'of-nightly-report@1768014000000', 'failed', 'Error: no', NULL, '{"a":1}', NULL, NULL, NULL, NULL, NULL, 'allow', 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, false, DEFAULT, DEFAULT, DEFAULT, 'failed');
INSERT INTO kept.run VALUES ('kept:default', 'nightly-report@1768100400000', 'nightly-report', 'uncertain', 1768100400000, 1768100400000, 'schedule', NULL, NULL, NULL, NULL, 1, 7, 'pod/1', 'uncertain', 1795471943451, NULL, 1, NULL, 1, 0, 1795471943452760, 'of-nightly-report@1768100400000', 'worker/1', 1795471943452, 1795471943452, 1795472003452, 60000, NULL, NULL, 'of-nightly-report@1768100400000', 'uncertain', 'unknown', NULL, '{"a":1}', NULL, NULL, NULL, NULL, NULL, 'allow', 1, NULL, NULL, '{"item": null, "since": 1767582000000, "effect": "charge", "reason": "no-answer"}', 1795471943454, NULL, 0, NULL, false, DEFAULT, DEFAULT, DEFAULT, NULL);
INSERT INTO kept.run VALUES ('kept:default', 'nightly-report@1768186800000', 'nightly-report', 'cancelled', 1768186800000, 1768186800000, 'schedule', NULL, NULL, NULL, NULL, 1, 7, 'pod/1', 'cancelled', 1795471943456, NULL, 1, NULL, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1795471943457, NULL, NULL, NULL, NULL, '{"a":1}', NULL, NULL, 1795471943457, 'ada', 1795471943457, 'allow', 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, false, DEFAULT, DEFAULT, DEFAULT, NULL);
INSERT INTO kept.skip VALUES ('kept:default', 'nightly-report', 1767581999998, 1767581999999, 'misfire');
SELECT pg_catalog.setval('kept.effect_id_seq', 3, true);
SELECT pg_catalog.setval('kept.item_id_seq', 1, false);
SELECT pg_catalog.setval('kept.notification_id_seq', 1, true);
ALTER TABLE ONLY kept.alarm_record
    ADD CONSTRAINT alarm_record_pkey PRIMARY KEY (space, cron);
ALTER TABLE ONLY kept.asked
    ADD CONSTRAINT asked_pkey PRIMARY KEY (space, cron, instant);
ALTER TABLE ONLY kept.audit_record
    ADD CONSTRAINT audit_record_pkey PRIMARY KEY (space, number);
ALTER TABLE ONLY kept.audit_record
    ADD CONSTRAINT audit_record_space_nonce_key UNIQUE (space, nonce);
ALTER TABLE ONLY kept.catalog_build
    ADD CONSTRAINT catalog_build_pkey PRIMARY KEY (space, source);
ALTER TABLE ONLY kept.catalog_cron
    ADD CONSTRAINT catalog_cron_pkey PRIMARY KEY (space, name);
ALTER TABLE ONLY kept.catalog_forgotten
    ADD CONSTRAINT catalog_forgotten_pkey PRIMARY KEY (space, name);
ALTER TABLE ONLY kept.catalog_generation
    ADD CONSTRAINT catalog_generation_pkey PRIMARY KEY (space, cron, generation);
ALTER TABLE ONLY kept.catalog_state
    ADD CONSTRAINT catalog_state_pkey PRIMARY KEY (space);
ALTER TABLE ONLY kept.cron
    ADD CONSTRAINT cron_pkey PRIMARY KEY (space, name);
ALTER TABLE ONLY kept.effect_begun
    ADD CONSTRAINT effect_begun_pkey PRIMARY KEY (space, run_id, name, fence);
ALTER TABLE ONLY kept.effect
    ADD CONSTRAINT effect_pkey PRIMARY KEY (space, run_id, name);
ALTER TABLE ONLY kept.item
    ADD CONSTRAINT item_pkey PRIMARY KEY (space, run_id, effect, key);
ALTER TABLE ONLY kept.ledger_version
    ADD CONSTRAINT ledger_version_pkey PRIMARY KEY (version);
ALTER TABLE ONLY kept.notification
    ADD CONSTRAINT notification_pkey PRIMARY KEY (space, cron, id);
ALTER TABLE ONLY kept.run
    ADD CONSTRAINT run_pkey PRIMARY KEY (space, id);
ALTER TABLE ONLY kept.skip
    ADD CONSTRAINT skip_pkey PRIMARY KEY (space, cron, through, after, reason);
ALTER TABLE ONLY kept.used_id
    ADD CONSTRAINT used_id_pkey PRIMARY KEY (space, run_id);
CREATE INDEX catalog_cron_tombstone ON kept.catalog_cron USING btree (space, delete_at) WHERE (delete_at IS NOT NULL);
CREATE INDEX run_by_instant ON kept.run USING btree (space, cron, scheduled_at DESC, id DESC);
CREATE INDEX run_open ON kept.run USING btree (space, cron) WHERE is_open;
CREATE INDEX run_pending ON kept.run USING btree (space, cron, scheduled_at, id) WHERE pending;
CREATE INDEX run_troubled ON kept.run USING btree (space, cron, COALESCE(finished_at, doubted_at) DESC, id DESC) WHERE is_troubled;
CREATE INDEX run_watched ON kept.run USING btree (space, cron) WHERE is_watched;
CREATE INDEX used_id_by_end ON kept.used_id USING btree (space, cron, until);
