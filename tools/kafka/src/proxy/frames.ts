/** Takes a stream of bytes apart into the frames of Kafka's protocol: four bytes of length, then so many bytes. */
export class Frames {
  private rest: Buffer = Buffer.alloc(0);

  /** The frames, with their lengths, that are whole after some more bytes. */
  push(chunk: Buffer): readonly Buffer[] {
    this.rest = this.rest.length === 0 ? chunk : Buffer.concat([this.rest, chunk]);
    const whole: Buffer[] = [];
    while (this.rest.length >= 4) {
      const end = 4 + this.rest.readInt32BE(0);
      if (this.rest.length < end) break;
      whole.push(this.rest.subarray(0, end));
      this.rest = this.rest.subarray(end);
    }
    return whole;
  }
}
