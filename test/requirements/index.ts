import { agentRequirements } from './agent-runtime.js';
import { designRequirements } from './design.js';
import { extensionRequirements } from './extension-points.js';
import type { Requirement } from './requirement.js';
import { sessionRequirements } from './session-runtime.js';

export { milestones, reached, type Milestone, type Requirement } from './requirement.js';

/** Every promise, by area. */
export const requirements: readonly Requirement[] = [
  ...designRequirements,
  ...extensionRequirements,
  ...sessionRequirements,
  ...agentRequirements,
];
