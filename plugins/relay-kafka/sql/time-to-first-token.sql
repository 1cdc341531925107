-- How long each model takes until the first piece of an answer, in milliseconds. For PostgreSQL and SQLite.
--
-- Only of steps of conversations, and of answers that came in pieces. A percentile is the smallest time that so many of a
-- hundred do not exceed (the nearest rank), so it is always one that was measured.
with ranked as (
  select
    provider,
    model_id,
    first_token_ms,
    row_number() over (partition by provider, model_id order by first_token_ms) as place,
    count(*) over (partition by provider, model_id) as answers
  from perdure_facts
  where type = 'ModelAnswered' and purpose = 'step' and first_token_ms is not null
)
select
  provider,
  model_id,
  max(answers) as answers,
  min(case when place >= (50 * answers + 99) / 100 then first_token_ms end) as p50_ms,
  min(case when place >= (95 * answers + 99) / 100 then first_token_ms end) as p95_ms,
  max(first_token_ms) as max_ms
from ranked
group by provider, model_id
order by provider, model_id
