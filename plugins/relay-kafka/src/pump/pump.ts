import { setTimeout as delay } from 'node:timers/promises';
import type { Kafka } from 'kafkajs';
import { relayColumns, type RecordedFact } from '@perdure/events';
import type { EventStore, Logger } from '@perdure/plugin-api';
import { kafkaClient } from '../kafka/client.js';
import { relayFailure } from '../kafka/failure.js';
import { lastPosition } from '../kafka/last-position.js';
import { Sender } from '../kafka/sender.js';
import { TopicReader } from '../kafka/topic-reader.js';
import type { RelayOptions } from '../options.js';
import { prepareTopics } from '../topics/prepare-topics.js';
import { topicNames } from '../topics/topic-names.js';
import { chunks, type Chunk } from './chunks.js';
import type { RelayLease } from './lease.js';
import { Planner, type Plan } from './planner.js';
import type { RelayState, RelayStatus } from './relay-status.js';
import { isTooLarge, send, smaller, type Route, type Sending } from './send-plan.js';
import { StreamMemory } from './stream-memory.js';

/** Milliseconds until a relay tries again when the brokers are away, at first and at most. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;

export interface PumpGround {
  readonly store: EventStore;
  readonly options: RelayOptions;
  readonly lease: RelayLease;
  readonly logger?: Logger | undefined;
  /** Ends once everything is on the topic that was stored when it looked. */
  readonly untilCaughtUp?: boolean;
}

/** Brings the facts of a store to the topics, in the order of the store, for as long as it holds the lease. */
export class Pump {
  private state: RelayState = 'away';
  private position: string | undefined;
  private caughtUp = false;
  private pending: RecordedFact | undefined;
  private counts = { sent: 0, transactions: 0, deadLetters: 0, restarts: 0 };
  private lastError: RelayStatus['lastError'];
  private readonly memory: StreamMemory;
  private readonly planner: Planner;
  private readonly route: Route;
  /** What becomes of the memory when a chunk whose fate is not known turns out to be on the topic. */
  private unsure: { readonly position: string; readonly changes: Plan['changes'] } | undefined;

  constructor(private readonly ground: PumpGround) {
    const { store, options } = ground;
    this.memory = new StreamMemory(options.remembered);
    this.planner = new Planner(store, options.filter, this.memory);
    this.route = {
      names: topicNames(options.topics.prefix),
      source: `/perdure/${options.storeId ?? store.name}`,
    };
  }

  status(): Omit<RelayStatus, 'epoch'> {
    const time = this.pending === undefined ? Number.NaN : Date.parse(relayColumns(this.pending).occurred_at ?? '');
    const lagMs = Number.isNaN(time) ? 0 : Math.max(0, performance.timeOrigin + performance.now() - time);
    const { state, position, caughtUp, counts, lastError } = this;
    return { state, position, caughtUp, lagMs, ...counts, ...(lastError === undefined ? {} : { lastError }) };
  }

  /**
   * Relays until the signal aborts. Throws PERDURE_RELAY_FENCED when another relay took over, PERDURE_RELAY_TOPIC and
   * PERDURE_RELAY_DENIED when somebody must do something first, and what the store throws. While the brokers are away
   * it waits, and holds nothing meanwhile.
   */
  async run(signal: AbortSignal): Promise<void> {
    let pause = FIRST_PAUSE_MS;
    for (;;) {
      signal.throwIfAborted();
      const before = this.counts.transactions;
      try {
        await this.relay(signal);
        // A follower of the store ends in order with its signal.
        signal.throwIfAborted();
        return;
      } catch (error) {
        signal.throwIfAborted();
        this.giveUpOn(error);
        this.counts.restarts += 1;
      }
      pause = this.counts.transactions > before ? FIRST_PAUSE_MS : Math.min(pause * 2, LONGEST_PAUSE_MS);
      // Many relays of one cluster must not come back in step.
      await delay(pause * (0.5 + Math.random() / 2), undefined, { signal });
    }
  }

  /** Takes note of a failure, and throws it when it does not end by itself. */
  private giveUpOn(error: unknown): void {
    const failure = relayFailure(error);
    const { code, message } = failure;
    this.lastError = { code, message };
    this.state = 'away';
    if (!failure.entry.retryable) {
      this.state = 'failed';
      throw failure;
    }
    this.ground.logger?.log('warn', 'The relay could not go on, and tries again.', { reason: message });
  }

  /** Relays with one producer, from what the topics say they have. */
  private async relay(signal: AbortSignal): Promise<void> {
    const { store, options, lease, logger, untilCaughtUp } = this.ground;
    await lease.renew();
    const kafka = await kafkaClient(options, logger);
    const admin = kafka.admin();
    let slot: SenderSlot | undefined;
    try {
      await admin.connect();
      await prepareTopics(admin, options.topics);
      slot = { kafka, sender: await this.openSender(kafka) };
      const reader = await TopicReader.open(kafka, options);
      const after = await lastPosition(reader, this.route.names).finally(() => reader.close());
      this.goOnAt(after);
      this.state = 'relaying';
      const source = after === undefined ? { all: true as const } : { all: true as const, after };
      const subscribe = (ended: AbortSignal) =>
        store.subscribe(source, { categories: ['session', 'budget'], signal: ended });
      for await (const chunk of chunks(subscribe, options.batch, signal)) {
        signal.throwIfAborted();
        await this.send(chunk, slot, signal);
        if (untilCaughtUp === true && chunk.caughtUp) return;
      }
    } finally {
      await slot?.sender.close();
      await admin.disconnect().catch(() => undefined);
    }
  }

  /** One that is fenced by this one can no longer write, wherever it hangs. */
  private async openSender(kafka: Kafka): Promise<Sender> {
    const { options, lease } = this.ground;
    const sender = await Sender.open(kafka, `${this.route.names.facts}.relay`, options.batch);
    try {
      await lease.confirm();
      return sender;
    } catch (error) {
      await sender.close();
      throw error;
    }
  }

  /** The memory is right at one place of the store: there, or nowhere. */
  private goOnAt(position: string | undefined): void {
    if (this.unsure?.position === position) this.memory.apply(this.unsure?.changes ?? new Map());
    else if (this.position !== position) this.memory.clear();
    this.unsure = undefined;
    this.position = position;
  }

  private async send(chunk: Chunk, slot: SenderSlot, signal: AbortSignal): Promise<void> {
    const plan = await this.planner.plan(chunk.facts);
    const last = plan.facts.at(-1)?.fact.position;
    if (last !== undefined) {
      this.pending = plan.facts[0]?.fact;
      this.caughtUp = false;
      this.unsure = { position: last, changes: plan.changes };
      await this.sendPieces({ facts: plan.facts }, slot, signal);
      this.unsure = undefined;
      this.position = last;
      this.pending = undefined;
    }
    this.memory.apply(plan.changes);
    this.caughtUp = chunk.caughtUp;
  }

  /** Sends all, in pieces where it is too much at once. Each piece that is too large costs a producer. */
  private async sendPieces(whole: Sending, slot: SenderSlot, signal: AbortSignal): Promise<void> {
    const waiting = [whole];
    for (let sending = waiting.shift(); sending !== undefined; sending = waiting.shift()) {
      signal.throwIfAborted();
      await this.ground.lease.confirm();
      try {
        await send(slot.sender, sending, this.route);
        this.counts.transactions += 1;
        this.counts.sent += sending.facts.length;
        if (sending.deadLetter !== undefined) this.reportDeadLetter(sending);
      } catch (error) {
        const pieces = isTooLarge(error) ? smaller(sending) : undefined;
        if (pieces === undefined) throw error;
        waiting.unshift(...pieces);
        await slot.sender.close();
        slot.sender = await this.openSender(slot.kafka);
      }
    }
  }

  private reportDeadLetter({ facts }: Sending): void {
    this.counts.deadLetters += 1;
    const { stream = '', revision = 0 } = facts[0]?.fact ?? {};
    this.ground.logger?.log('error', 'A fact was too large for the topic: it is a dead letter.', { stream, revision });
  }
}

/** The producer of a round of relaying. */
interface SenderSlot {
  readonly kafka: Kafka;
  sender: Sender;
}
