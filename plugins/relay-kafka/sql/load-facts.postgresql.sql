-- $1: a JSON array of the values of messages, each with `source`, the message's ce_source. For PostgreSQL.
-- What comes again is left out. Columns that the table does not have are passed by.
insert into perdure_facts
select * from json_populate_recordset(null::perdure_facts, $1::json)
on conflict do nothing
