import type { UUID } from '@eventstore/db-client/generated/shared_pb.js';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import { invalidArgument } from './server-error.js';

const UUID_TEXT = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The text of an id, which a request gives as text or as two numbers. */
export function textOfId(id: UUID | undefined): string {
  const structured = id?.getStructured();
  if (structured === undefined) {
    const text = id?.getString().toLowerCase() ?? '';
    if (!UUID_TEXT.test(text)) throw invalidArgument(`'${text}' is not a UUID.`);
    return text;
  }
  const half = (bits: string): string => BigInt.asUintN(64, BigInt(bits)).toString(16).padStart(16, '0');
  const hex = half(structured.getMostSignificantBits()) + half(structured.getLeastSignificantBits());
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

export function idOf(text: string): UUID {
  return new shared.UUID().setString(text);
}
