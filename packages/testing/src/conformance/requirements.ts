/** What each port promises, by id. Every id has a test; the suites prove it. Data only. */

export const eventStoreRequirements = {
  'event-store:declare:capabilities': 'A store declares what the suite was told, and limits of at least 256 KiB and 1.',

  'event-store:append:atomic-batch': 'A batch is stored as a whole, its facts next to each other in order.',
  'event-store:append:revisions':
    'Revisions start at 0 in every stream and have no gaps; a result names the last fact.',
  'event-store:append:positions': 'Positions have one width and sort as text in the order of appends, across streams.',
  'event-store:append:expected-none': '`none` holds only for a stream that has never had a fact.',
  'event-store:append:expected-number': 'A number holds only while it is the last revision of the stream.',
  'event-store:append:conflict': 'A conflict tells the actual revision, and nothing of its batch is stored.',
  'event-store:append:one-winner': 'Of concurrent appends at one place exactly one is stored.',
  'event-store:append:concurrent-streams': 'A conflict does not harm appends to other streams that wait beside it.',
  'event-store:append:repeat':
    'The same ids at the same place again are `stored`, also behind later facts, and add nothing.',
  'event-store:append:other-ids': 'Ids that are not the ones at that place, or only some of them, are a conflict.',
  'event-store:append:too-large':
    'A fact of exactly the limit is stored; one byte more is `too-large` and stores nothing.',
  'event-store:append:largest-batch': 'A batch of exactly the limit is stored; one fact more is refused.',
  'event-store:append:stream-names': 'Streams are told apart by every character of their names.',
  'event-store:append:input': 'An append that is not valid names the field and stores nothing.',

  'event-store:read:exact-text': 'Types, payloads and metadata come back as the same text.',
  'event-store:read:missing': 'A missing stream is an empty page with the head `none`.',
  'event-store:read:forwards': 'Pages lead forwards through the whole stream by `next`, which ends at the head.',
  'event-store:read:backwards': 'Pages lead backwards through the whole stream by `next`, which ends at the beginning.',
  'event-store:read:from': 'A read begins at `from`, also inside a batch, in both directions.',
  'event-store:read:bounded': 'A page holds at most `limit` facts, and at most 1,000 without one.',
  'event-store:read:head': 'Every page tells the last revision of the stream.',
  'event-store:read:omit-detail': '`omitDetail` leaves out exactly the facts that were appended as detail.',
  'event-store:read:abort': 'A read whose signal is aborted is rejected with the reason of the signal.',
  'event-store:read:input': 'A read that is not valid names the field.',

  'event-store:subscribe:stream': 'A follower of a stream is given its facts in order, the past and what comes.',
  'event-store:subscribe:store': 'A follower of the store is given all facts of all streams in the order of positions.',
  'event-store:subscribe:caught-up':
    'The past ends with the first batch that is caught up, an empty one where nothing is.',
  'event-store:subscribe:missing-stream': 'A follower of a missing stream is given its facts when they come.',
  'event-store:subscribe:categories': 'Only facts of streams of the categories asked for are given.',
  'event-store:subscribe:types': 'Only facts of the types asked for are given, of streams and of the store.',
  'event-store:subscribe:types-in-past': 'Facts that nobody asked for, appended during a long past, lose none of it.',
  'event-store:subscribe:resume-stream': 'A follower of a stream goes on behind every revision.',
  'event-store:subscribe:resume-store': 'A follower of the store goes on behind every position, also inside a batch.',
  'event-store:subscribe:position': 'A batch of the store tells where to go on, past facts that the filter left out.',
  'event-store:subscribe:hand-over':
    'While facts are appended, followers that start at any moment see no gap and no double.',
  'event-store:subscribe:abort':
    'An aborted signal ends a follower, before its start, in the past, and while it waits.',
  'event-store:subscribe:leave': 'A follower can be left while it waits, and others go on.',
  'event-store:subscribe:input': 'A subscription that is not valid names the field.',

  'event-store:truncate:cut': 'A truncated stream begins at the cut, also inside a batch, in both directions.',
  'event-store:truncate:head': 'The head stays: revisions go on, and `none` keeps failing, also when nothing is left.',
  'event-store:truncate:follow': 'A follower of a truncated stream is given what is left, then what comes.',
  'event-store:truncate:harmless': 'Truncating again, at 0, behind the head, or a missing stream, gives up no more.',
  'event-store:truncate:input': 'A truncation that is not valid names the field.',

  'event-store:weak:same-verbs':
    'Streams of drafts and leases keep the promises of append, read, subscribe and truncate.',
  'event-store:weak:one-order': 'A follower of the store is given drafts and facts in one order of positions.',
  'event-store:weak:truncated': 'A draft that was truncated whole goes on at its next revision.',

  'event-store:close:followers': 'Closing ends all followers.',
  'event-store:close:calls': 'A closed store refuses every call, and can be closed again.',

  'event-store:shared:read': 'What one store object stored, the other reads and appends behind.',
  'event-store:shared:follow': 'Followers of one store object are given what the other one appends.',
  'event-store:shared:between': 'What another one appends just before an append of this one is not passed over.',
  'event-store:shared:writers': 'Two writers that retry after conflicts leave no gap and no double.',

  'event-store:durable:reopen': 'Facts, revisions, positions and cuts are the same after closing and opening again.',
  'event-store:durable:repeat': 'The same ids at the same place are `stored` after closing and opening again.',
} as const;
export type EventStoreRequirement = keyof typeof eventStoreRequirements;

export const artifactStoreRequirements = {
  'artifact-store:put:digest': 'Storing bytes returns their digest, the same for the same bytes.',
  'artifact-store:get:input': 'A range that is not valid names the field.',
  'artifact-store:put:limit': 'Bytes of exactly the limit are stored; one more is refused with its size and the limit.',
  'artifact-store:put:copy': 'Changing the bytes after they were stored changes nothing in the store.',
  'artifact-store:get:bytes': 'The same bytes come back, of every size from none to many.',
  'artifact-store:get:range': 'A range gives the bytes from `from` up to before `to`, and what there is of them.',
  'artifact-store:get:missing': 'Bytes that a tenant did not store are `undefined`.',
  'artifact-store:get:tenants': 'Tenants do not see each other, and no tenant name spells the absence of one.',
  'artifact-store:delete:bytes': 'Deleted bytes are gone for that tenant only, and can be stored again.',
  'artifact-store:delete:missing': 'Deleting what is not there does nothing.',
  'artifact-store:close:calls': 'A closed store refuses every call, and can be closed again.',
  'artifact-store:shared:put': 'What one store object stored, the other one gives.',
  'artifact-store:durable:reopen': 'Bytes are the same after closing and opening again.',
} as const;
export type ArtifactStoreRequirement = keyof typeof artifactStoreRequirements;

export const projectionStoreRequirements = {
  'projection-store:commit:rows': 'Rows and checkpoint of a commit are there together; rows are replaced and removed.',
  'projection-store:commit:compare-and-set':
    'A commit whose expected checkpoint is not the actual one changes nothing.',
  'projection-store:commit:one-winner': 'Of concurrent commits from one checkpoint exactly one is stored.',
  'projection-store:commit:apart': 'Projections do not touch each other.',
  'projection-store:commit:input': 'A commit that is not valid names the field and changes nothing.',
  'projection-store:checkpoint:first': 'A projection without a commit has no checkpoint and no rows.',
  'projection-store:rows:order': 'Rows come in the order of their keys by code unit.',
  'projection-store:rows:options': '`prefix`, `from` and `limit` narrow the rows, alone and together.',
  'projection-store:rows:exact-text': 'Keys and values come back as the same text.',
  'projection-store:rows:input': 'Options that are not valid name the field.',
  'projection-store:clear:all': 'A cleared projection has no rows and no checkpoint, and can begin again.',
  'projection-store:close:calls': 'A closed store refuses every call, and can be closed again.',
  'projection-store:shared:compare-and-set': 'Commits of two store objects cannot mix.',
  'projection-store:durable:reopen': 'Rows and checkpoint are the same after closing and opening again.',
} as const;
export type ProjectionStoreRequirement = keyof typeof projectionStoreRequirements;

export const snapshotStoreRequirements = {
  'snapshot-store:save:whole': 'A saved snapshot is loaded whole and equal; a second save replaces the first.',
  'snapshot-store:save:copy': 'Changing a snapshot after it was saved or loaded changes nothing in the store.',
  'snapshot-store:save:concurrent': 'Readers beside a save see the old snapshot or the new one, never a mixture.',
  'snapshot-store:save:input': 'What is no snapshot is refused and names the field; what was saved before stays.',
  'snapshot-store:save:unknown-members': 'Members that this build does not know are kept.',
  'snapshot-store:save:unsupported':
    'A store that is not atomic answers PERDURE_SNAPSHOT_UNSUPPORTED; an atomic one saves.',
  'snapshot-store:load:missing': 'A key that was never saved loads `undefined`.',
  'snapshot-store:list:keys': 'The list holds each saved key once, as the same text.',
  'snapshot-store:delete:key': 'A deleted snapshot is gone, others stay, and deleting again does nothing.',
  'snapshot-store:close:calls': 'A closed store refuses every call, and can be closed again.',
  'snapshot-store:shared:save': 'What one store object saved, the other one loads.',
  'snapshot-store:durable:reopen': 'Snapshots are the same after closing and opening again.',
} as const;
export type SnapshotStoreRequirement = keyof typeof snapshotStoreRequirements;
