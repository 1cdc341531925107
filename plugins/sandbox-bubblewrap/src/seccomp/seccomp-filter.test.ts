import { describe, expect, test } from 'vitest';
import { seccompFilter } from './seccomp-filter.js';
import { architectureOf, type Architecture } from './system-calls.js';

const ALLOW = 0x7fff0000;
const fail = (errno: number): number => 0x00050000 | errno;
const [EPERM, ENOSYS, EAFNOSUPPORT] = [1, 38, 97];

interface Call {
  readonly number: number;
  readonly audit?: number;
  readonly args?: readonly number[];
}

/** Runs a filter as the kernel does. */
function answer(filter: Buffer, architecture: Architecture, { number, audit, args = [] }: Call): number {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(number, 0);
  data.writeUInt32LE(audit ?? architecture.audit, 4);
  for (const [index, value] of args.entries()) data.writeUInt32LE(value, 16 + index * 8);
  let value = 0;
  for (let at = 0; ; at += 8) {
    const [code, operand] = [filter.readUInt16LE(at), filter.readUInt32LE(at + 4)];
    if (code === 0x06) return operand;
    if (code === 0x20) {
      value = data.readUInt32LE(operand);
      continue;
    }
    const holds = code === 0x15 ? value === operand : code === 0x35 ? value >= operand : (value & operand) !== 0;
    at += filter.readUInt8(at + (holds ? 2 : 3)) * 8;
  }
}

describe.each(['x64', 'arm64'])('the filter for %s', (name) => {
  const architecture = architectureOf(name) as Architecture;
  const filter = seccompFilter(architecture);
  const of = (call: Call): number => answer(filter, architecture, call);

  test('lets ordinary calls pass', () => {
    for (const number of [0, 1, 3, 59, 221, 222]) expect(of({ number }), String(number)).toBe(ALLOW);
  });

  test('refuses all that are listed, and says of some that they do not exist', () => {
    for (const number of architecture.refused) expect(of({ number }), String(number)).toBe(fail(EPERM));
    for (const number of architecture.missing) expect(of({ number }), String(number)).toBe(fail(ENOSYS));
  });

  test('ends a process that calls as another architecture', () => {
    expect(of({ number: 1, audit: 0x40000003 })).toBe(0x80000000);
  });

  test('refuses namespaces, and lets threads and processes be made', () => {
    const { clone: number } = architecture;
    for (const flag of [0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000]) {
      expect(of({ number, args: [flag | 17] })).toBe(fail(EPERM));
    }
    expect(of({ number, args: [17] })).toBe(ALLOW);
    expect(of({ number, args: [0x3d0f00] })).toBe(ALLOW);
  });

  test('knows few families of sockets', () => {
    const { socket: number } = architecture;
    for (const family of [1, 2, 10, 16]) expect(of({ number, args: [family, 1, 0] })).toBe(ALLOW);
    for (const family of [0, 17, 29, 38, 40]) expect(of({ number, args: [family, 1, 0] })).toBe(fail(EAFNOSUPPORT));
  });

  test('lets nobody make a program that becomes its owner', () => {
    for (const { number, mode, flags } of architecture.modes) {
      const args = [0, 0, 0, 0];
      const called = (bits: number, flag: number): number =>
        of({ number, args: args.map((_, index) => (index === mode ? bits : index === flags ? flag : 0)) });
      expect(called(0o104755, 0x41), String(number)).toBe(fail(EPERM));
      expect(called(0o104755, 0x410000), String(number)).toBe(fail(EPERM));
      expect(called(0o100755, 0x41), String(number)).toBe(ALLOW);
      if (flags !== undefined) expect(called(0o104755, 0), String(number)).toBe(ALLOW);
    }
  });

  test('lets nobody type into a terminal', () => {
    const { ioctl: number } = architecture;
    expect(of({ number, args: [0, 0x5412] })).toBe(fail(EPERM));
    expect(of({ number, args: [0, 0x541c] })).toBe(fail(EPERM));
    expect(of({ number, args: [0, 0x5401] })).toBe(ALLOW);
  });
});

test('another binary interface of x64 does not exist', () => {
  const architecture = architectureOf('x64') as Architecture;
  const called = answer(seccompFilter(architecture), architecture, { number: 0x40000001 });
  expect(called).toBe(fail(ENOSYS));
});

test('an architecture that nobody looked at has no filter', () => {
  expect(architectureOf('riscv64')).toBeUndefined();
});
