-- How often each tool fails when it is run. For PostgreSQL and SQLite.
--
-- A call is settled exactly once, and its name is in the fact that decided it. Calls that were denied or cancelled did not
-- run to an end; what became of `unknown` ones nobody can say. None of these is in the rate.
select
  decided.tool_name,
  count(*) as calls,
  count(case when settled.status = 'completed' then 1 end) as completed,
  count(case when settled.status = 'failed' then 1 end) as failed,
  count(case when settled.status = 'denied' then 1 end) as denied,
  count(case when settled.status in ('cancelled', 'unknown') then 1 end) as without_outcome,
  count(case when settled.status = 'failed' then 1 end) * 1.0
    / nullif(count(case when settled.status in ('completed', 'failed') then 1 end), 0) as failure_rate
from perdure_facts as settled
left join perdure_facts as decided
  on decided.source = settled.source
  and decided.stream = settled.stream
  and decided.call_id = settled.call_id
  and decided.type = 'ToolCallDecided'
where settled.type = 'ToolCallSettled'
group by decided.tool_name
order by decided.tool_name
