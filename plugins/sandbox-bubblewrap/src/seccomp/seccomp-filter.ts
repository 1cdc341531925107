import type { Architecture, ModeCall } from './system-calls.js';

/** Codes of instructions: load a word, return, and jumps that compare with a constant. */
const [LOAD, RETURN, IF_EQUAL, IF_AT_LEAST, IF_ANY_BIT] = [0x20, 0x06, 0x15, 0x35, 0x45];
/** Where the kernel puts what a filter is asked about. Of arguments only the lower half counts here. */
const [NUMBER, ARCHITECTURE, ARGUMENTS, ARGUMENT_SIZE] = [0, 4, 16, 8];
const [ALLOW, KILL_PROCESS, FAIL] = [0x7fff0000, 0x80000000, 0x00050000];
const [EPERM, ENOSYS, EAFNOSUPPORT] = [1, 38, 97];

/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET: a namespace of one's own has all capabilities. */
const NEW_NAMESPACES = 0x7e020000;
/** UNIX, INET, INET6, NETLINK. Others, such as those of virtual machines, know no network namespaces. */
const FAMILIES = [1, 2, 10, 16];
/** TIOCSTI and TIOCLINUX type into the terminal of others. */
const TYPING = [0x5412, 0x541c];

/** A program that becomes its owner, left behind in a workspace, would be a trap for other users of the machine. */
const SET_USER_ID = 0o4000;
/** O_CREAT and O_TMPFILE: only with one of them a mode is more than what happens to be there. */
const CREATES = 0x00400040;

type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, operand: number];

/** The filter of system calls that a command runs under, as the kernel takes it. */
export function seccompFilter(architecture: Architecture): Buffer {
  const { audit, clone, socket, ioctl, modes, refused, missing, firstForeign } = architecture;
  const program: readonly Instruction[] = [
    [LOAD, 0, 0, ARCHITECTURE],
    [IF_EQUAL, 1, 0, audit],
    [RETURN, 0, 0, KILL_PROCESS],
    [LOAD, 0, 0, NUMBER],
    ...(firstForeign === undefined ? [] : answerIf(IF_AT_LEAST, firstForeign, FAIL | ENOSYS)),
    ...refused.flatMap((number) => answerIf(IF_EQUAL, number, FAIL | EPERM)),
    ...missing.flatMap((number) => answerIf(IF_EQUAL, number, FAIL | ENOSYS)),
    ...forCall(clone, 0, answerIf(IF_ANY_BIT, NEW_NAMESPACES, FAIL | EPERM), ALLOW),
    ...forCall(
      socket,
      0,
      FAMILIES.flatMap((family) => answerIf(IF_EQUAL, family, ALLOW)),
      FAIL | EAFNOSUPPORT,
    ),
    ...forCall(
      ioctl,
      1,
      TYPING.flatMap((request) => answerIf(IF_EQUAL, request, FAIL | EPERM)),
      ALLOW,
    ),
    ...modes.flatMap(refuseSetUserId),
    [RETURN, 0, 0, ALLOW],
  ];
  return encode(program);
}

function answerIf(comparison: number, operand: number, answer: number): readonly Instruction[] {
  return [
    [comparison, 0, 1, operand],
    [RETURN, 0, 0, answer],
  ];
}

/** Looks at an argument of one call. Whatever the rules say nothing about gets the answer. */
function forCall(
  number: number,
  argument: number,
  rules: readonly Instruction[],
  answer: number,
): readonly Instruction[] {
  return [[IF_EQUAL, 0, rules.length + 2, number], loadArgument(argument), ...rules, [RETURN, 0, 0, answer]];
}

function refuseSetUserId({ number, mode, flags }: ModeCall): readonly Instruction[] {
  const refuse = answerIf(IF_ANY_BIT, SET_USER_ID, FAIL | EPERM);
  if (flags === undefined) return forCall(number, mode, refuse, ALLOW);
  const refuseNew: readonly Instruction[] = [
    [IF_ANY_BIT, 0, refuse.length + 1, CREATES],
    loadArgument(mode),
    ...refuse,
  ];
  return forCall(number, flags, refuseNew, ALLOW);
}

function loadArgument(place: number): Instruction {
  return [LOAD, 0, 0, ARGUMENTS + place * ARGUMENT_SIZE];
}

function encode(program: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(program.length * 8);
  for (const [index, [code, ifTrue, ifFalse, operand]] of program.entries()) {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(ifTrue, index * 8 + 2);
    bytes.writeUInt8(ifFalse, index * 8 + 3);
    bytes.writeUInt32LE(operand >>> 0, index * 8 + 4);
  }
  return bytes;
}
