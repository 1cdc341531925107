-- One row for each message of the facts topic. For PostgreSQL and SQLite.
--
-- The columns have the names and meanings of schemas/relay/fact-message.v1.json of @perdure/events. `source` is the header
-- ce_source, so that several stores can be in one table; `fact` is the stored fact as JSON text, null in a stub.
create table if not exists perdure_facts (
  source text not null,
  stream text not null,
  revision bigint not null,
  event_id text not null,
  session_id text,
  tenant text,
  type text not null,
  schema_version integer,
  position text not null,
  occurred_at timestamp with time zone,
  epoch bigint,
  lane text,
  actor_kind text,
  actor_id text,
  principal text,
  agent_template_id text,
  correlation_id text,
  causation_id text,
  turn_id text,
  run_id text,
  step_id text,
  call_id text,
  tool_name text,
  model text,
  provider text,
  model_id text,
  purpose text,
  status text,
  error_code text,
  tokens_in bigint,
  tokens_out bigint,
  cost_micros bigint,
  duration_ms bigint,
  first_token_ms bigint,
  dead_letter text,
  fact text,
  -- A message that comes again finds its row: insert with `on conflict do nothing`.
  primary key (source, stream, revision)
);

create index if not exists perdure_facts_type on perdure_facts (type, occurred_at);
create index if not exists perdure_facts_call on perdure_facts (source, stream, call_id);
