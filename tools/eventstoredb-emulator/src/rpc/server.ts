import grpc from '@grpc/grpc-js';
import gossip from '@eventstore/db-client/generated/gossip_grpc_pb.js';
import features from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js';
import streams from '@eventstore/db-client/generated/streams_grpc_pb.js';
import { appendCall } from './append-call.js';
import { batchAppendCall } from './batch-append-call.js';
import { featuresCall, gossipCall } from './cluster-calls.js';
import { deleteCall, tombstoneCall } from './delete-calls.js';
import type { Parts } from './parts.js';
import { readCall } from './read-call.js';

/** The largest message: one append comes in parts of 3 MiB, and one event may have 16 MiB. */
const LARGEST_MESSAGE = 17 * 1024 * 1024;

/** A server that answers the calls of a client; it listens nowhere. */
export function serverOf(parts: Parts, maxStreamsPerConnection: number): grpc.Server {
  const server = new grpc.Server({
    'grpc.max_concurrent_streams': maxStreamsPerConnection,
    'grpc.max_receive_message_length': LARGEST_MESSAGE,
  });
  server.addService(streams.StreamsService, {
    append: appendCall(parts),
    batchAppend: batchAppendCall(parts),
    read: readCall(parts),
    delete: deleteCall(parts),
    tombstone: tombstoneCall(parts),
  });
  server.addService(features.ServerFeaturesService, { getSupportedMethods: featuresCall(parts) });
  server.addService(gossip.GossipService, { read: gossipCall(parts) });
  return server;
}
