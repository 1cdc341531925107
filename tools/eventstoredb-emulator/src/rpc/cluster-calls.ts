import type grpc from '@grpc/grpc-js';
import type { ClusterInfo } from '@eventstore/db-client/generated/gossip_pb.js';
import type { SupportedMethods } from '@eventstore/db-client/generated/serverfeatures_pb.js';
import type { Empty } from '@eventstore/db-client/generated/shared_pb.js';
import gossip from '@eventstore/db-client/generated/gossip_pb.js';
import features from '@eventstore/db-client/generated/serverfeatures_pb.js';
import { randomUUID } from 'node:crypto';
import type { MemberState } from '../cluster/members.js';
import { idOf } from './event-id.js';
import type { Parts } from './parts.js';
import { answerCall } from './unary-call.js';

/** The version of EventStoreDB whose behaviour this server has. */
export const SERVER_VERSION = '23.10.0';
const STREAMS_SERVICE = 'event_store.client.streams.Streams';
const METHODS = ['append', 'batchappend', 'delete', 'read', 'tombstone'];

const STATES: Readonly<Record<MemberState, gossip.MemberInfo.VNodeState>> = {
  leader: gossip.MemberInfo.VNodeState.LEADER,
  follower: gossip.MemberInfo.VNodeState.FOLLOWER,
  'read-only-replica': gossip.MemberInfo.VNodeState.READONLYREPLICA,
  'catching-up': gossip.MemberInfo.VNodeState.CATCHINGUP,
};

/** GetSupportedMethods: a client asks it once, before its first append. */
export function featuresCall(parts: Parts): grpc.handleUnaryCall<Empty, SupportedMethods> {
  return (call, callback) => {
    void answerCall(parts, { operation: 'features', stream: () => '' }, call, callback, () => {
      const methods = METHODS.map((name) =>
        new features.SupportedMethod().setServiceName(STREAMS_SERVICE).setMethodName(name),
      );
      const answer = new features.SupportedMethods().setEventStoreServerVersion(SERVER_VERSION);
      return Promise.resolve(answer.setMethodsList(methods));
    });
  };
}

/** Gossip: what the cluster looks like from here. */
export function gossipCall(parts: Parts): grpc.handleUnaryCall<Empty, ClusterInfo> {
  return (call, callback) => {
    void answerCall(parts, { operation: 'gossip', stream: () => '' }, call, callback, () => {
      const members = parts.members.list.map(({ host, port, state, isAlive }) =>
        new gossip.MemberInfo()
          .setInstanceId(idOf(randomUUID()))
          .setTimeStamp(String(Date.now() * 10_000))
          .setState(STATES[state])
          .setIsAlive(isAlive)
          .setHttpEndPoint(new gossip.EndPoint().setAddress(host).setPort(port)),
      );
      return Promise.resolve(new gossip.ClusterInfo().setMembersList(members));
    });
  };
}
