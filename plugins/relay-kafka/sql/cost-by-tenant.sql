-- What each tenant has spent, and the tokens of its model calls. For PostgreSQL and SQLite.
--
-- Costs are settled by budgets: of sessions in a tree without a budget, and of models without a price, there are none.
-- A budget settles behind the calls that it paid, so the costs of turns that run are not all there yet.
select
  tenant,
  coalesce(sum(case when type = 'BudgetSettled' then cost_micros end), 0) as cost_micros,
  coalesce(sum(case when type = 'ModelAnswered' then tokens_in end), 0) as tokens_in,
  coalesce(sum(case when type = 'ModelAnswered' then tokens_out end), 0) as tokens_out,
  count(case when type = 'ModelAnswered' then 1 end) as model_calls
from perdure_facts
where type in ('BudgetSettled', 'ModelAnswered')
group by tenant
order by cost_micros desc, tenant
