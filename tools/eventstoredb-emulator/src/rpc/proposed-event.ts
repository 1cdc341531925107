import type { AppendReq, BatchAppendReq } from '@eventstore/db-client/generated/streams_pb.js';
import type { ProposedEvent } from '../log/transaction.js';
import { textOfId } from './event-id.js';
import { missingProperty } from './server-error.js';

type ProposedMessage = AppendReq.ProposedMessage | BatchAppendReq.ProposedMessage;

/** Throws a status when the message lacks an id, its type or its content type. */
export function proposedEventOf(message: ProposedMessage): ProposedEvent {
  const properties = message.getMetadataMap();
  const type = properties.get('type');
  const contentType = properties.get('content-type');
  const missing = [...(type === undefined ? ['type'] : []), ...(contentType === undefined ? ['content-type'] : [])];
  if (type === undefined || missing.length > 0) throw missingProperty(missing);
  return {
    id: textOfId(message.getId()),
    type,
    isJson: contentType === 'application/json',
    data: message.getData_asU8(),
    metadata: message.getCustomMetadata_asU8(),
  };
}
