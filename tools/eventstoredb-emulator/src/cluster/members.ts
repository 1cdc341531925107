import { z } from 'zod';

/** The states that a client looks at when it chooses a node. */
const MEMBER_STATES = ['leader', 'follower', 'read-only-replica', 'catching-up'] as const;

export type MemberState = (typeof MEMBER_STATES)[number];

export const memberSchema = z.strictObject({
  host: z.string().min(1),
  port: z.number().int().positive(),
  state: z.enum(MEMBER_STATES),
  isAlive: z.boolean().default(true),
});
export type Member = z.input<typeof memberSchema>;

/** What this node says about its cluster; by default that it is alone and leads. */
export class Members {
  private members: readonly z.output<typeof memberSchema>[] | undefined;
  private readonly self: { readonly host: string; readonly port: () => number };

  constructor(self: { readonly host: string; readonly port: () => number }) {
    this.self = self;
  }

  /** Throws when one is not a member. */
  set(members: readonly Member[]): void {
    this.members = z.array(memberSchema).parse(members);
  }

  get list(): readonly z.output<typeof memberSchema>[] {
    return this.members ?? [{ host: this.self.host, port: this.self.port(), state: 'leader', isAlive: true }];
  }
}
